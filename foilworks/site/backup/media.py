"""Copy the files of a backup: videos from storage and back if missing there; submitted score files."""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from foilworks.core.corpus.video_files.stored_files import is_local, opaque_name

# Below UPLOAD_ROOT. Files of imports are not included: people can send them again.
SENT = ("submission-*", "scores-*")
Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]


def back_up_files(target: Path, progress: Progress) -> None:
    """Copy the files into the backup. OSError: the storage cannot be read, or the disk is full."""
    if is_local():
        # Names that begin with a dot are not stored completely yet.
        stored_files = [path for path in _files(settings.MEDIA_ROOT) if not path.name.startswith(".")]
        _copy_files(stored_files, settings.MEDIA_ROOT, target, progress)
        return
    names = sorted(name for name, _ in default_storage.names())
    for name in progress(names, len(names), "videos"):
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("wb") as file:
            default_storage.download(name, file)


def copy_in(source: Path, progress: Progress) -> None:
    """Add the files that storage lacks; nothing is removed. OSError: it cannot be written."""
    if is_local():
        _copy_files(_files(source), source, settings.MEDIA_ROOT, progress)
        return
    size_by_name = dict(default_storage.names())
    paths = _files(source)
    for path in progress(paths, len(paths), "videos"):
        name = path.relative_to(source).as_posix()
        if name not in size_by_name or (size_by_name[name] != path.stat().st_size and not _is_damaged(path)):
            with path.open("rb") as file:
                default_storage.save(name, File(file))


def copy_sent(target: Path) -> None:
    """Copy submitted score files that rows name; each is in a folder of its own with a random name."""
    for pattern in SENT:
        for folder in sorted(settings.UPLOAD_ROOT.glob(pattern)):
            _copy_tree(folder, target / folder.name)


def restore_uploads(source: Path) -> None:
    """Add the files that this home lacks; older backups have none."""
    _copy_tree(source, settings.UPLOAD_ROOT)


def _quiet(items: Iterable[Any], _total: int, _label: str) -> Iterator[Any]:
    yield from items


def _copy_tree(source: Path, target: Path) -> None:
    _copy_files(_files(source), source, target, _quiet)


def _copy_files(paths: list[Path], source: Path, target: Path, progress: Progress) -> None:
    """Copy the files that the target lacks: stored videos are named by their content and never change."""
    for path in progress(paths, len(paths), "videos"):
        copy = target / path.relative_to(source)
        if copy.exists() and (copy.stat().st_size == path.stat().st_size or _is_damaged(path)):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


def _is_damaged(path: Path) -> bool:
    """Return whether a file's bytes differ from its name: such a file does not replace another.

    Files that were stored before 0.3 have their SHA-256 as their name.
    """
    if not re.fullmatch(r"[0-9a-f]{64}", path.stem):
        return False
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return path.stem not in (sha256, opaque_name(sha256))


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
