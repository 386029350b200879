"""Write and read backups: folders with a manifest that names every file by its SHA-256.

Only a complete backup is restored.
"""

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotation.models import Vote
from foilworks.core.corpus.export_formats.parts.manifest_shape import FileFacts
from foilworks.core.corpus.models import Item, Release
from foilworks.core.projects.models import Project, User
from foilworks.core.text.atomic_folders import remove_folder, work_folder
from foilworks.core.text.quoting import quoted
from foilworks.core.text.shape import Shape
from foilworks.site.backup import database
from foilworks.site.backup.errors import BackupError
from foilworks.site.backup.media import Progress, back_up_files, copy_in, copy_sent, restore_uploads
from foilworks.site.databases.database_version import (
    OLDEST_VERSION,
    UnsupportedDatabase,
    known_migrations,
    require_supported_migrations,
)
from foilworks.version import __version__

MANIFEST = "manifest.json"
KIND = "foilworks-backup"
KEY = "secret_key"
MEDIA = "media"
SENT_FILES = "sent"
# Number of automatic backups per kind; those that people requested are never removed.
AUTOMATIC_KEPT = 5


def backups_folder() -> Path:
    return settings.FOILWORKS_HOME / "backups"


def newest_backup() -> float | None:
    """Return when the newest complete backup in the home's folder was made, as a Unix time; None without one."""
    return max((path.stat().st_mtime for path in backups_folder().glob(f"*/{MANIFEST}")), default=None)


def backup_path(why: str) -> Path:
    """Return a new name in the home's folder of backups."""
    return backups_folder() / f"{why}-{timezone.now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"


def make_backup(out: Path, *, media: bool, progress: Progress) -> dict[str, Any]:
    """Write the folder `out`: database, key, with `media` the videos, and the manifest.

    BackupError: `out` exists, the database cannot be copied, the disk is full.
    """
    if out.exists():
        raise BackupError(f"{out}: already exists; give a new folder")
    try:
        # The backup contains everything of the home: nobody else may read it.
        with work_folder(out, mode=0o700) as work:
            manifest = _write_backup(work, media, progress)
            work.rename(out)
    except OSError as error:
        raise BackupError(f"{out}: cannot be written ({error.strerror}); free space, or give another folder") from error
    return manifest


def _write_backup(work: Path, media: bool, progress: Progress) -> dict[str, Any]:
    """Write the files of a backup, then its manifest."""
    database.dump(work / database.file_name())
    key = settings.FOILWORKS_HOME / KEY
    if key.exists():
        shutil.copy2(key, work / KEY)
    if media:
        back_up_files(work / MEDIA, progress)
        copy_sent(work / SENT_FILES)
    manifest = _manifest(work, media)
    (work / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return manifest


def automatic_backup(why: str) -> Path:
    """Back up only the database, before a command changes it as a whole."""
    out = backup_path(why)
    make_backup(out, media=False, progress=_silent)
    return out


def remove_old(why: str, *spared: Path) -> None:
    """Remove old automatic backups of this reason; AUTOMATIC_KEPT stay, and the spared ones.

    The oldest is removed first, but of several with the same tables, as when a start is retried again and again, those
    between the first and the last: people need the state before the trouble began.
    """
    copies = [(path, manifest["migrations"]) for path, manifest in _automatic_backups(why)]
    spared_paths = {path.resolve() for path in spared}
    while len(copies) > AUTOMATIC_KEPT:
        free = [index for index, (path, _) in enumerate(copies) if path.resolve() not in spared_paths]
        if not free:
            return
        removed_index = next((index for index in free if _is_between(copies, index)), free[0])
        _remove(copies.pop(removed_index)[0])


def remove_older(why: str, days: int) -> list[Path]:
    """Remove backups in the home's folder that were made for this reason more than `days` days ago.

    The newest one stays, however old it is. Returns the removed paths.
    """
    *older, _ = _automatic_backups(why) or [None]
    limit = (timezone.now() - timedelta(days=days)).isoformat()
    gone = [path for path, manifest in older if manifest["created_at"] < limit]
    for path in gone:
        _remove(path)
    return gone


def _automatic_backups(why: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return the complete backups in the home's folder that were made for this reason, oldest first."""
    backups = []
    for path in backups_folder().glob(f"{why}-*"):
        with suppress(BackupError):
            backups.append((path, _read_manifest(path)))
    return sorted(backups, key=lambda backup: (backup[1]["created_at"], backup[0]))


def _remove(copy: Path) -> None:
    with suppress(OSError):
        remove_folder(copy)


def _is_between(copies: list[tuple[Path, list[str]]], index: int) -> bool:
    """Return whether the backups before and after it contain the same tables."""
    neighbours = [tables for _, tables in copies[max(0, index - 1) : index + 2]]
    return 0 < index < len(copies) - 1 and neighbours[0] == neighbours[1] == neighbours[2]


def has_rows() -> bool:
    """Return whether the database is ours and has content: tables that migrations have created."""
    return bool(MigrationRecorder(connection).applied_migrations())


def restore_backup(folder: Path, *, progress: Progress) -> dict[str, Any]:
    """Restore a backup: replace the database and the key, and add missing videos; nothing else is removed.

    The current state is backed up first. BackupError, with nothing changed: not a backup, a damaged one, one of a
    different kind of database or of a newer Foilworks, or other sessions use the database.
    """
    manifest = checked_manifest(folder, progress)
    database.refuse_if_used()
    aside = automatic_backup("before-restore") if has_rows() else None
    try:
        database.load(folder / database.file_name())
        if KEY in manifest["files"]:
            _copy_key(folder / KEY)
        if manifest["media"]:
            copy_in(folder / MEDIA, progress)
            restore_uploads(folder / SENT_FILES)
        remove_old("before-restore", folder)
    except OSError as error:
        raise BackupError(f"{folder}: cannot be restored ({error.strerror}); free space, then try again") from error
    return {
        "from": str(folder),
        "made_at": manifest["created_at"],
        "media": manifest["media"],
        "key": KEY in manifest["files"],
        "aside": str(aside) if aside else None,
    }


def count_rows() -> dict[str, int]:
    """Count the rows that people check first after a restore. The tables must be up to date."""
    counted = {"people": User, "projects": Project, "items": Item, "votes": Vote, "releases": Release}
    return {name: table.objects.count() for name, table in counted.items()}


def checked_manifest(folder: Path, progress: Progress) -> dict[str, Any]:
    """Return the manifest of a backup that can be restored here, after reading every file of it."""
    manifest = _read_manifest(folder)
    if manifest["database"] != connection.vendor:
        raise BackupError(
            f"{folder}: is a backup of a {manifest['database']} database, but this one is {connection.vendor}; "
            "set DATABASE_URL accordingly"
        )
    _check_migrations(folder, manifest)
    for name, facts in progress(manifest["files"].items(), len(manifest["files"]), "checking"):
        path = folder / name
        if not path.is_file() or path.is_symlink() or _sha256(path) != facts["sha256"]:
            raise BackupError(f"{path}: differs from the manifest; use another backup")
    return manifest


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = BackupManifest.read(path.read_bytes()).model_dump()
    except OSError as error:
        raise BackupError(f"{folder}: is not a backup; give a folder that `foilworks backup` made") from error
    except ValueError as error:
        problem = f"{path}: is not the manifest of a backup; give a folder that `foilworks backup` made"
        raise BackupError(problem) from error
    for name in manifest["files"]:
        if not is_inside(name):
            raise BackupError(f"{path}: names {quoted(name)}, which is not in the backup; use another backup")
    if database.file_name() not in manifest["files"] and manifest["database"] == connection.vendor:
        raise BackupError(f"{path}: names no database; use another backup")
    return manifest


class BackupManifest(Shape):
    """The manifest of a backup. Restoring reads these fields."""

    kind: Literal[KIND]  # type: ignore[valid-type]
    database: str
    migrations: list[str]
    media: bool
    created_at: str
    files: dict[str, FileFacts]


def is_inside(name: str) -> bool:
    """Return whether a name of the manifest stays in its folder."""
    pure = PurePosixPath(name)
    return not pure.is_absolute() and ".." not in pure.parts


def _check_migrations(folder: Path, manifest: dict[str, Any]) -> None:
    newer = sorted(set(manifest["migrations"]) - {".".join(key) for key in known_migrations()})
    if newer:
        raise BackupError(f"{folder}: was made by a newer Foilworks (it knows {newer[0]}); update this one first")
    try:
        require_supported_migrations({tuple(name.split(".", 1)) for name in manifest["migrations"]})
    except UnsupportedDatabase as error:
        advice = f"restore it with version {OLDEST_VERSION}, run `foilworks migrate` there, then back it up again"
        raise BackupError(f"{folder}: {error.problem}; {advice}") from error


def _manifest(work: Path, media: bool) -> dict[str, Any]:
    files = {
        path.relative_to(work).as_posix(): {"sha256": _sha256(path), "bytes": path.stat().st_size}
        for path in sorted(work.rglob("*"))
        if path.is_file()
    }
    return {
        "kind": KIND,
        "version": __version__,
        "created_at": timezone.now().isoformat(),
        "database": connection.vendor,
        "media": media,
        "migrations": sorted(".".join(node) for node in MigrationRecorder(connection).applied_migrations()),
        "files": files,
    }


def _copy_key(path: Path) -> None:
    """Copy the key, because pseudonyms and signed links depend on it."""
    target = settings.FOILWORKS_HOME / KEY
    shutil.copy2(path, target)
    target.chmod(0o600)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _silent(items: Iterable[Any], _total: int, _label: str) -> Iterator[Any]:
    yield from items
