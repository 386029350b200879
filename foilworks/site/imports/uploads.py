"""Store files that people upload, in a folder of the import, under names that cannot be paths."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from evaluation.score_files.uploaded_files import safe_name, write_file
from foilworks.site.imports.file_parts import ArrivingFile
from foilworks.site.imports.models import Import
from foilworks.site.imports.object_parts import ArrivingObject, fetch_objects, note_object, remove_objects

RECORDS, VIDEOS, STRIPS, OBJECTS = "records", "videos", "strips", "objects"
MAX_SMALL_BYTES = 2 * 1024 * 1024


def folder_of(upload: Import) -> Path:
    return Path(settings.UPLOAD_ROOT) / f"import-{upload.pk}"


def is_small(upload: Import) -> bool:
    """Report whether the import takes seconds: few records, and no video to decode."""
    path = records_path(upload)
    return not upload.n_videos and path.is_file() and path.stat().st_size <= MAX_SMALL_BYTES


def records_path(upload: Import) -> Path:
    return folder_of(upload) / RECORDS / upload.file_name


def videos_folder(upload: Import) -> Path:
    return folder_of(upload) / VIDEOS


def strip_path(upload: Import, number: int) -> Path:
    """Where the film strip of a record of the preview is, counted from 0."""
    return folder_of(upload) / STRIPS / f"{number}.jpg"


def keep_files(upload: Import, records: UploadedFile | None, videos: Sequence[UploadedFile]) -> None:
    """Write the uploads into the import's folder.

    Existing files come from a write that was rolled back and whose number was reused. OSError: the disk refuses.
    """
    remove_files(upload)
    videos_folder(upload).mkdir(parents=True, mode=0o700)
    if records is not None:
        records_path(upload).parent.mkdir()
        _write(records, records_path(upload))
    write_files(videos, videos_folder(upload))


def write_files(files: Sequence[UploadedFile], folder: Path) -> list[Path]:
    """Write the files under safe names; of two with one name, the later gets a number. Return their paths."""
    paths = []
    for file in files:
        paths.append(_free(folder, safe_name(file.name or "")))
        _write(file, paths[-1])
    return paths


def _write(file: UploadedFile, path: Path) -> None:
    if isinstance(file, ArrivingObject):
        note_object(file, path, path.parent.parent / OBJECTS)
    elif isinstance(file, ArrivingFile):
        file.link_to(path)
    else:
        write_file(file, path)


def fetch_files(upload: Import) -> None:
    """Fetch the videos that a browser has sent to the object store. OSError: the store or the disk refuses."""
    fetch_objects(folder_of(upload) / OBJECTS, videos_folder(upload))


def remove_files(upload: Import) -> None:
    with suppress(OSError):
        remove_objects(folder_of(upload) / OBJECTS)
    shutil.rmtree(folder_of(upload), ignore_errors=True)


def without_folder(upload: Import, value: Any) -> Any:
    """Remove the folder from messages: people know only the file names."""
    if isinstance(value, str):
        folder = folder_of(upload)
        return value.replace(f"{folder / RECORDS}/", "").replace(f"{folder / VIDEOS}/", "")
    if isinstance(value, dict):
        return {key: without_folder(upload, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_folder(upload, inner) for inner in value]
    return value


def _free(folder: Path, name: str) -> Path:
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return path
