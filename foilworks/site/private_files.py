"""Keep the files of an installation from other users of the same machine.

The database holds sessions, second factors and raw votes: anyone who reads it can sign in as anybody. So every process
creates files that only its owner may read, and closes the home of an older version when it starts.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

UMASK = 0o077
OTHERS = 0o077
# The files and folders directly in a home. Other programs may also use the folder itself.
PATTERNS = ("*.sqlite3*", "secret_key", "backups", "cache", "exports", "media", "models", "run", "static", "uploads")


def make_private(home: Path) -> None:
    """Set the umask of this process, and close an existing home and its files to group and others.

    Files of another owner stay as they are: `foilworks doctor --production` names them.
    """
    os.umask(UMASK)
    for path in open_to_others(home):
        try:
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OTHERS)
        except OSError:
            continue


def open_to_others(home: Path) -> list[Path]:
    """Return the home, its database, key and folders that group or others may enter or read."""
    return [path for path in _private_paths(home) if _is_open(path)]


def _private_paths(home: Path) -> Iterator[Path]:
    # The sticky bit marks a folder that is shared on purpose, such as /tmp: do not close it.
    if home.is_dir() and not home.stat().st_mode & stat.S_ISVTX:
        yield home
    for pattern in PATTERNS:
        yield from home.glob(pattern)


def _is_open(path: Path) -> bool:
    try:
        return not path.is_symlink() and bool(path.stat().st_mode & OTHERS)
    except OSError:
        return False
