"""Read the files of an uploaded ZIP archive one by one, as if each had been uploaded."""

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import shortened

SUFFIX = ".zip"
MAX_FILES = 20_000
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class ArchivedFile(UploadedFile):
    """A file in an archive: decompressed while it is read, always from its first byte."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        super().__init__(name=PurePosixPath(info.filename).name, size=info.file_size)
        self._archive, self._info = archive, info

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the bytes. EvaluationError: the archive is damaged."""
        try:
            with self._archive.open(self._info) as file:
                while chunk := file.read(chunk_size or self.DEFAULT_CHUNK_SIZE):
                    yield chunk
        except _DAMAGED as error:
            problem = _("%(name)s cannot be read from its archive. Pack the archive again.") % {"name": self.name}
            raise EvaluationError(problem) from error

    def read(self, size: int) -> bytes:
        return next(self.chunks(size), b"")

    def seek(self, _position: int) -> None:
        """Do nothing: each reading begins at the first byte."""


def unpacked(upload: UploadedFile, max_bytes: int) -> list[UploadedFile]:
    """Return the file, or the files of an archive without hidden ones.

    EvaluationError: it is not an archive, it is empty or encrypted, its files exceed `max_bytes` or MAX_FILES, or two
    of them have one name: records could mean either.
    """
    name = str(upload.name)
    if not name.lower().endswith(SUFFIX):
        return [upload]
    try:
        archive = zipfile.ZipFile(upload.file)
    except _DAMAGED as error:
        raise EvaluationError(
            _("%(name)s is not a ZIP archive, or is damaged. Pack it again.") % {"name": name}
        ) from error
    infos = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
    if any(info.flag_bits & 1 for info in infos):
        raise EvaluationError(_("%(name)s is encrypted. Pack it without a password.") % {"name": name})
    if not infos:
        raise EvaluationError(_("%(name)s has no files. Pack it again.") % {"name": name})
    names = Counter(PurePosixPath(info.filename).name for info in infos)
    doubled = ", ".join(info.filename for info in infos if names[PurePosixPath(info.filename).name] > 1)
    if doubled:
        problem = _("%(name)s has files of the same name: %(files)s. Give each its own name, then pack it again.")
        raise EvaluationError(problem % {"name": name, "files": shortened(doubled)})
    if len(infos) > MAX_FILES or sum(info.file_size for info in infos) > max_bytes:
        raise EvaluationError(
            _("%(name)s has more than %(files)d files or %(mb)d MB. Upload it in parts.")
            % {"name": name, "files": MAX_FILES, "mb": max_bytes // 1024**2}
        )
    return [ArchivedFile(archive, info) for info in infos]


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)
