"""Receive uploaded files: safe names, and writing in chunks."""

import re
import unicodedata
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile

MAX_NAME_LENGTH = 150


def safe_name(name: str) -> str:
    """Turn an uploaded file name into a safe one: letters, digits, `.-_ ()+,=@`; never hidden, never a path.

    Data sets name their videos, so a harmless name does not change.
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    clean = re.sub(r"[^\w.\- ()+,=@]", "_", last).strip(" .")
    stem, dot, suffix = clean.rpartition(".")
    if len(clean.encode()) > MAX_NAME_LENGTH:
        tail = f"{dot}{suffix}"[:20]
        clean = (stem or clean).encode()[: MAX_NAME_LENGTH - len(tail.encode())].decode(errors="ignore") + tail
    return clean or "unnamed"


def write_file(sent: UploadedFile, path: Path) -> None:
    """Write in chunks, so that memory never holds a whole video."""
    with path.open("xb") as file:
        for chunk in sent.chunks():
            file.write(chunk)
