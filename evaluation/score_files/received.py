"""Files that people upload: safe names, and writing them in pieces."""

import re
import unicodedata
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile

MAX_NAME_LENGTH = 150


def safe_name(name: str) -> str:
    """A file name out of what a stranger's browser sent: letters, digits, `.-_ ()+,=@`; not hidden, never a path.

    Data sets name their videos, so a harmless name is kept as it is.
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    clean = re.sub(r"[^\w.\- ()+,=@]", "_", last).strip(" .")
    stem, dot, suffix = clean.rpartition(".")
    if len(clean.encode()) > MAX_NAME_LENGTH:
        tail = f"{dot}{suffix}"[:20]
        clean = (stem or clean).encode()[: MAX_NAME_LENGTH - len(tail.encode())].decode(errors="ignore") + tail
    return clean or "unnamed"


def write_file(sent: UploadedFile, path: Path) -> None:
    """In pieces: a film never stands in memory."""
    with path.open("xb") as file:
        for chunk in sent.chunks():
            file.write(chunk)
