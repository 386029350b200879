"""Recognize files that are not videos by their first bytes, whatever their name."""

import re
from pathlib import Path

# Start of the file -> what it is. `?` is any byte.
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"GIF8", "a GIF image"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"RIFF????WEBP", "a WebP image"),
    (b"RIFF????WAVE", "a WAV sound"),
    (b"BM", "a BMP image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"????ftypavif", "an AVIF image"),
    (b"????ftyphei", "a HEIC image"),
    (b"ID3", "an MP3 sound"),
    (b"\xff\xfb", "an MP3 sound"),
    (b"fLaC", "a FLAC sound"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"#EXTM3U", "a playlist"),
    (b"ffconcat", "a playlist"),
)
_MARKUP = (b"<!doctype html", b"<html", b"<?xml", b"<svg", b"<script")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_LONGEST = 512


def kind_of(path: Path) -> str:
    """Return what the file is, with its article, such as "a GIF image"; "" if its first bytes do not say."""
    with path.open("rb") as file:
        head = file.read(_LONGEST)
    for start, kind in _STARTS:
        if re.match(re.escape(start).replace(rb"\?", b"."), head, re.DOTALL):
            return kind
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_MARKUP):
        return "a page of HTML, XML or SVG"
    return "" if not head or _CONTROLS.search(head) else "a text"
