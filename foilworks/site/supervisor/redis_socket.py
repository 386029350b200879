"""Compute where the embedded Redis of a home listens. Without Django, because the settings import this module."""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

# sun_path of a unix socket address holds 108 bytes on Linux and 104 on macOS, the closing NUL included.
SOCKET_PATH_LIMIT = 103 if sys.platform == "darwin" else 107


def redis_folder(home: Path) -> Path:
    """Return the folder in which the embedded Redis of ``home`` has its conf, append-only file and lock."""
    return Path(home).absolute() / "redis"


def redis_socket_path(home: Path) -> Path:
    """Return the socket of the embedded Redis of ``home``, without creating or opening anything.

    It depends on the home alone, so that every process of a home computes the same path: ``HOME/redis/redis.sock`` or,
    if that is too long for a socket address, a folder of this user in the system's temporary folder, named after the
    home's hash. The server makes that folder private before it listens.
    """
    socket = redis_folder(home) / "redis.sock"
    if len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT:
        return socket
    # Symbolic links are resolved: a home with two names has one server.
    digest = hashlib.sha256(os.fsencode(Path(home).resolve())).hexdigest()[:16]
    return _temporary_root() / f"foilworks-{os.getuid()}-{digest}" / "redis.sock"


def _temporary_root() -> Path:
    # bandit B108: /tmp first and not TMPDIR, because two shells with different TMPDIRs must find the same server. The
    # folder in it is made private, or refused, before anything listens.
    socket_root = Path("/tmp")  # noqa: S108  # nosec
    return socket_root if os.access(socket_root, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
