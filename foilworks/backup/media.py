"""The files of a copy: videos out of storage into its folder, and what storage lacks back, whatever it is; score files
that were sent."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from corpus.clip_files import is_local

# Below UPLOAD_ROOT. Files of imports are not among them: who sent them sends them again.
SENT = ("submission-*", "scores-*")
Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]


def copy_out(target: Path, progress: Progress) -> None:
    """OSError: the storage cannot be read, or the disk is full."""
    if is_local():
        _copy_tree(settings.MEDIA_ROOT, target, progress)
        return
    names = sorted(name for name, _ in default_storage.names())
    for name in progress(names, len(names), "videos"):
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("wb") as file:
            default_storage.download(name, file)


def copy_in(source: Path, progress: Progress) -> None:
    """Add what storage lacks; nothing is removed. OSError: it cannot be written."""
    if is_local():
        _copy_tree(source, settings.MEDIA_ROOT, progress)
        return
    there = dict(default_storage.names())
    paths = _files(source)
    for path in progress(paths, len(paths), "videos"):
        name = path.relative_to(source).as_posix()
        if there.get(name) != path.stat().st_size:
            with path.open("rb") as file:
                default_storage.save(name, File(file))


def copy_sent(target: Path) -> None:
    """Score files that people sent and that rows name; each lies in a folder of its own, named by chance."""
    for pattern in SENT:
        for folder in sorted(settings.UPLOAD_ROOT.glob(pattern)):
            _copy_tree(folder, target / folder.name, _quiet)


def put_back_sent(source: Path) -> None:
    """Add what this home lacks; a copy from before they were in it has none."""
    _copy_tree(source, settings.UPLOAD_ROOT, _quiet)


def _quiet(things: Iterable[Any], _total: int, _label: str) -> Iterator[Any]:
    yield from things


def _copy_tree(source: Path, target: Path, progress: Progress) -> None:
    """Copy the files that the target lacks: stored videos are named by their content and never change."""
    paths = _files(source)
    for path in progress(paths, len(paths), "videos"):
        copy = target / path.relative_to(source)
        if copy.exists() and copy.stat().st_size == path.stat().st_size:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
