"""Let a browser send a large video to the object store by itself, part by part (STORAGE_URL=s3://…).

Each part has a signed address, so no web process holds the bytes. The store knows which parts have arrived; the worker
that reads the import fetches the object, and removes it.
"""

import secrets
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Self

from django.core import signing
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.utils.functional import cached_property

from evaluation.score_files.uploaded_files import safe_name
from foilworks.core.corpus.video_files.ingest import SUFFIXES
from foilworks.core.projects.models import Project, User
from foilworks.site.imports.declarations import FILE_PARTS

_SALT = "imports.object_parts"
# Objects with this prefix are uploads, not videos.
PREFIX = "arriving"


class ArrivingObject(UploadedFile):
    """A file that arrives in the store. `token`: its address; `key`: the object; `upload_id`: the store's own name."""

    def __init__(self, token: str, name: str, size: int, key: str, upload_id: str) -> None:
        super().__init__(name=name, size=size)
        self.token, self.key, self.upload_id = token, key, upload_id

    @classmethod
    def begun(cls, person: User, project: Project, name: str, size: int) -> Self:
        """Return a new file without bytes. OSError: the store refuses."""
        key = f"{PREFIX}/{secrets.token_hex(16)}"
        facts = [safe_name(name), size, key, default_storage.begin_parts(key)]
        return cls(signing.dumps([*facts, project.pk, person.pk], salt=_SALT, compress=True), *facts)

    @classmethod
    def of_token(cls, person: User, project: Project, token: str) -> Self:
        """Return the file of an address that this person has in this project. FileNotFoundError: there is none."""
        try:
            *facts, project_id, person_id = signing.loads(token, salt=_SALT)
        except signing.BadSignature as error:
            raise FileNotFoundError(token) from error
        if (project_id, person_id) != (project.pk, person.pk):
            raise FileNotFoundError(token)
        return cls(token, *facts)

    @cached_property
    def offset(self) -> int:
        """Return how many bytes have arrived without a gap. FileNotFoundError: they were removed."""
        try:
            sizes = default_storage.part_sizes(self.key, self.upload_id)
        except FileNotFoundError:
            # Complete uploads have no parts any more.
            return int(default_storage.size(self.key))
        arrived = 0
        while size := sizes.get(arrived // FILE_PARTS.part_bytes + 1, 0):
            arrived += size
            if size < FILE_PARTS.part_bytes:
                break
        return arrived

    def part_address(self, offset: int) -> str:
        """Return where a browser puts the part that begins at this byte."""
        number, size = offset // FILE_PARTS.part_bytes + 1, min(FILE_PARTS.part_bytes, self.size - offset)
        return str(default_storage.part_address(self.key, self.upload_id, number, size))

    def complete(self) -> None:
        """Join the parts to one object, once."""
        if not default_storage.exists(self.key):
            default_storage.complete_parts(self.key, self.upload_id)

    def close(self) -> None:
        """Do nothing: no process here has it open."""

    def remove(self) -> None:
        """Remove what has arrived."""
        default_storage.remove_parts(self.key, self.upload_id)


def goes_to_store(name: str, size: int) -> bool:
    """Report whether a browser sends this file to the object store: a video of several parts."""
    is_video = PurePath(name).suffix.lower() in SUFFIXES[1:]
    return is_video and size > FILE_PARTS.part_bytes and takes_parts()


def takes_parts() -> bool:
    """Report whether videos are in an object store."""
    return hasattr(default_storage, "begin_parts")


def note_object(file: ArrivingObject, path: Path, notes: Path) -> None:
    """Keep the place of a file, and note beside it which object a worker fetches."""
    path.touch(exist_ok=False)
    notes.mkdir(exist_ok=True)
    (notes / path.name).write_text(file.key, encoding="utf-8")


def fetch_objects(notes: Path, folder: Path) -> None:
    """Fetch the noted objects into the folder, and remove them from the store. OSError: the store or disk refuses."""
    for note in sorted(notes.glob("*")):
        key = note.read_text(encoding="utf-8")
        target = folder / note.name
        with target.with_suffix(".fetched").open("wb") as file:
            default_storage.download(key, file)
        target.with_suffix(".fetched").replace(target)
        note.unlink()
        default_storage.delete(key)


def remove_objects(notes: Path) -> None:
    """Remove the noted objects from the store."""
    for note in notes.glob("*"):
        default_storage.delete(note.read_text(encoding="utf-8"))


def remove_old_objects(before: datetime) -> int:
    """Remove uploads to the store that began before this moment, and return how many."""
    store: Any = default_storage
    return int(store.remove_old_parts(PREFIX, before)) if takes_parts() else 0
