"""Read subtitles: files in SubRip (.srt) and WebVTT (.vtt) beside a video, and texts without times."""

import codecs
import io
import re
from functools import lru_cache
from pathlib import Path

SUFFIXES = (".srt", ".vtt")
MAX_CHARACTERS = 200_000
_ARROW, _WEBVTT = "-->", "WEBVTT"
# Marks of style, as FFmpeg writes them.
_STYLE = re.compile(r"\{\\[^{}]*\}")


def beside(path: Path) -> str:
    """Return the text of the subtitle file with the name of the video; "" if there is none, or it is not text.

    Text is UTF-8, UTF-16 with its mark, or Windows-1252.
    """
    for suffix in SUFFIXES:
        file = path.with_suffix(suffix)
        # A link can lead out of the folder.
        if file.is_file() and not file.is_symlink():
            return _text(file.read_bytes()[: 4 * MAX_CHARACTERS])[:MAX_CHARACTERS]
    return ""


def _text(content: bytes) -> str:
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        # A long file may be cut inside of a character, which an incremental decoder waits for.
        text = codecs.getincrementaldecoder("utf-16" if is_wide else "utf-8-sig")().decode(content)
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    return "" if "\x00" in text else text.replace("\r\n", "\n")


@lru_cache(maxsize=512)
def spoken(text: str, start: float | None = None, end: float | None = None) -> str:
    """Return the lines that are shown between two times in seconds (None: no limit), without times and styles.

    A text without times is returned whole, with its blanks joined. A line that repeats the one before is left out, as
    in captions that scroll.
    """
    if _ARROW not in text:
        return " ".join(text.split())
    lines: list[str] = []
    for begins, ends, line in _cues(text):
        is_shown = (end is None or begins < end) and (start is None or ends > start)
        if is_shown and line and line not in lines[-1:]:
            lines.append(line)
    return "\n".join(lines)


def _cues(text: str) -> list[tuple[float, float, str]]:
    """Return (start, end, line) of each subtitle, in the order of the file; none if it cannot be read."""
    # Imported here: pages that show scores read no subtitles.
    import av

    form = "webvtt" if text.lstrip("\ufeff").startswith(_WEBVTT) else "srt"
    cues = []
    try:
        with av.open(io.BytesIO(text.encode()), mode="r", format=form) as container:
            for packet in container.demux(container.streams.subtitles[0]):
                begins = float((packet.pts or 0) * packet.time_base) if packet.time_base else 0.0
                lasts = float((packet.duration or 0) * packet.time_base) if packet.time_base else 0.0
                for subtitle in packet.decode():
                    line = _STYLE.sub("", getattr(subtitle, "dialogue", b"").decode())
                    cues.append((begins, begins + lasts, " ".join(line.split())))
    except (av.FFmpegError, IndexError):
        return []
    return cues
