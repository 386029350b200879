"""Serves the bundles of foilworks/bundles.py as static files: made in the home when a process first asks for them."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from foilworks.bundles import BUNDLES, BundleError, bundled, compressed, hashed_name

FOLDER = "bundles"


@cache
def built() -> dict[str, Path]:
    """Bundle -> its file, beside which lies the compressed one. Other versions stay: another process may serve them."""
    folder = settings.FOILWORKS_HOME / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name in BUNDLES:
        content = bundled(name, _source)
        path = folder / hashed_name(name, content)
        for target, data in ((path, content), (path.with_name(f"{path.name}.gz"), compressed(content))):
            if not target.exists():
                _write(target, data)
        files[name] = path
    return files


def bundle_path(name: str) -> str:
    """Where the bundle lies below STATIC_URL."""
    return f"{FOLDER}/{built()[name].name}"


class BundleFinder(BaseFinder):
    def find(self, path: str, find_all: bool = False, **_old: Any) -> Any:
        files = {f"{FOLDER}/{file.name}": str(file) for file in _files()} if path.startswith(f"{FOLDER}/") else {}
        found = files.get(path)
        # Nothing found is an empty list either way, as from the other finders.
        return found if found and not find_all else [found] if found else []

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        storage = FileSystemStorage(location=settings.FOILWORKS_HOME)
        for file in _files():
            yield f"{FOLDER}/{file.name}", storage


def _files() -> list[Path]:
    return [each for path in built().values() for each in (path, path.with_name(f"{path.name}.gz"))]


def _source(path: str) -> str:
    found = finders.find(path)
    if found is None:
        raise BundleError(f"{path}: is no static file; see BUNDLES in foilworks/bundles.py")
    return Path(found).read_text(encoding="utf-8")


def _write(target: Path, data: bytes) -> None:
    """Whole or not at all: two processes may start together."""
    descriptor, name = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    Path(name).chmod(0o644)
    Path(name).replace(target)
