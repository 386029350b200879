"""Other Pythons of this machine: on the path, or of pyenv and uv."""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")
FOLDERS = (".pyenv/versions/{}.*/bin/python3", ".local/share/uv/python/cpython-{}.*/bin/python3")


@cache
def python_of(version: str) -> Path | None:
    """The program of a version, such as "3.12"; None if there is none."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    installed = [path for pattern in FOLDERS for path in sorted(Path.home().glob(pattern.format(version)))]
    on_path = shutil.which(f"python{version}")
    return next((path for path in [*installed, *([Path(on_path)] if on_path else [])] if _runs(path)), None)


def _runs(python: Path) -> bool:
    """A program of pyenv on the path may only say that its version is not chosen."""
    return subprocess.run([python, "-c", "import ssl, venv"], capture_output=True, check=False).returncode == 0
