"""Store uploaded files part by part, so that an upload continues where its connection was lost.

The address of a file is signed and has its name, size and sender: the bytes that have arrived are the only state. The
protocol is tus 1.0.0 (creation, creation with upload, termination): https://tus.io/protocols/resumable-upload.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.score_files.uploaded_files import safe_name
from foilworks.core.projects.models import Project, User
from foilworks.site.imports.declarations import FILE_PARTS
from foilworks.site.imports.object_parts import ArrivingObject

_SALT = "imports.file_parts"
_BLOCK = 256 * 1024


class Busy(EvaluationError):
    """Another request writes the file."""


class ArrivingFile(UploadedFile):
    """A file of which `size` bytes are announced; read when all have arrived. `token`: its address."""

    def __init__(self, token: str, name: str, size: int, key: str) -> None:
        super().__init__(name=name, size=size)
        self.token = token
        # The ending is that of uploads which arrive in one request: the same sweep removes them.
        self.path = Path(settings.FILE_UPLOAD_TEMP_DIR) / f"{key}.upload-part"

    @property
    def file(self) -> IO[bytes] | None:
        """Return the bytes that have arrived, opened when they are first read: an import has thousands of files."""
        if self._file is None:
            self._file = self.path.open("rb")
        return self._file

    @file.setter
    def file(self, file: IO[bytes] | None) -> None:
        self._file = file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def offset(self) -> int:
        """Return how many bytes have arrived. FileNotFoundError: the file was removed."""
        return self.path.stat().st_size

    def append(self, stream: Any, offset: int) -> int:
        """Write a part at the end, and return how many bytes the file has then.

        Busy: another request writes. EvaluationError: the part begins elsewhere, or is longer than announced.
        """
        with self._alone() as file:
            if file.tell() != offset:
                raise Busy(_("%(name)s continues elsewhere. Press Resume.") % {"name": self.name})
            while block := stream.read(_BLOCK):
                if file.tell() + len(block) > self.size:
                    raise EvaluationError(
                        _("%(name)s is larger than announced. Upload it again.") % {"name": self.name}
                    )
                file.write(block)
            return file.tell()

    @contextmanager
    def _alone(self) -> Iterator[IO[bytes]]:
        with self.path.open("r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Busy(_("%(name)s is being written. Press Resume.") % {"name": self.name}) from error
            file.seek(0, os.SEEK_END)
            yield file

    def complete(self) -> None:
        """Do nothing: all bytes are in one file."""

    def remove(self) -> None:
        """Remove what has arrived."""
        self.path.unlink()

    def link_to(self, path: Path) -> None:
        """Give the bytes another name, or copy them where the file system has no links."""
        try:
            path.hardlink_to(self.path)
        except OSError:
            shutil.copyfile(self.path, path)


def check_size(name: str, size: int) -> None:
    """EvaluationError: the file is larger than uploads may be."""
    if size > FILE_PARTS.max_bytes:
        problem = _("%(name)s has more than %(mb)d MB. Import it by `foilworks import` on the server.")
        raise EvaluationError(problem % {"name": name, "mb": FILE_PARTS.max_bytes // 1024**2})


def announce(person: User, project: Project, name: str, size: int) -> ArrivingFile:
    """Return a new file without bytes. EvaluationError: it is larger than uploads may be."""
    check_size(name, size)
    facts = [safe_name(name), size, secrets.token_hex(16)]
    token = signing.dumps([*facts, project.pk, person.pk], salt=_SALT, compress=True)
    file = ArrivingFile(token, *facts)
    file.path.touch(mode=0o600, exist_ok=False)
    return file


def arriving_file(person: User, project: Project, token: str) -> ArrivingFile:
    """Return the file of an address that this person has in this project. FileNotFoundError: there is none."""
    try:
        *facts, project_id, person_id = signing.loads(token, salt=_SALT)
    except signing.BadSignature as error:
        raise FileNotFoundError(token) from error
    file = ArrivingFile(token, *facts)
    if (project_id, person_id) != (project.pk, person.pk) or not file.path.is_file():
        raise FileNotFoundError(token)
    return file


def _arrived(person: User, project: Project, token: str) -> ArrivingFile | ArrivingObject:
    try:
        return arriving_file(person, project, token)
    except FileNotFoundError:
        return ArrivingObject.of_token(person, project, token)


@contextmanager
def arrived_files(person: User, project: Project, tokens: str) -> Iterator[list[ArrivingFile | ArrivingObject]]:
    """Give the files of these addresses, with spaces between them. EvaluationError: one has not arrived as a whole."""
    try:
        files = [_arrived(person, project, token) for token in tokens.split()]
        partial = [str(file.name) for file in files if file.offset != file.size]
    except FileNotFoundError as error:
        raise EvaluationError(_("An uploaded file was removed after a day. Choose the files again.")) from error
    if partial:
        raise EvaluationError(_("%(names)s: the upload is incomplete. Resume it.") % {"names": ", ".join(partial)})
    if sum(file.size for file in files) > FILE_PARTS.max_bytes:
        problem = _("The files have more than %(mb)d MB in total. Upload them in parts.")
        raise EvaluationError(problem % {"mb": FILE_PARTS.max_bytes // 1024**2})
    for file in files:
        file.complete()
    try:
        yield files
    finally:
        for file in files:
            file.close()
