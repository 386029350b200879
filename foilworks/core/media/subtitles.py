"""Read subtitles and transcripts: SubRip (.srt), WebVTT (.vtt), JSON of Whisper or YouTube, and texts without times."""

import codecs
import io
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

SUFFIXES = (".srt", ".vtt", ".json")
# Beside a video, a text can be anything.
TRANSCRIPTS = (*SUFFIXES, ".txt")
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
        if file.is_file() and not file.is_symlink() and (text := read(file)):
            return text
    return ""


def read(path: Path) -> str:
    """Return the text of a file of `TRANSCRIPTS`, a JSON document as SubRip; "" if it is not text or has no lines."""
    if path.suffix.lower() != ".json":
        return _text(path.read_bytes()[: 4 * MAX_CHARACTERS])[:MAX_CHARACTERS]
    try:
        return _of_document(json.loads(path.read_bytes()))[:MAX_CHARACTERS]
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""


def _of_document(document: Any) -> str:
    """Return the lines of a JSON document as SubRip, or its text if it has no times; "" if it has another form."""
    rows = document
    if isinstance(document, Mapping):
        lists = (document.get(name) for name in ("segments", "chunks", "timestamps", "events"))
        rows = next((row for row in lists if isinstance(row, list)), [])
    cues = list(_timed(rows)) if isinstance(rows, list) else []
    if cues:
        return "\n".join(
            f"{number}\n{_clock(begins)} --> {_clock(ends)}\n{line}\n"
            for number, (begins, ends, line) in enumerate(cues, 1)
        )
    texts = [document.get(name) for name in ("text", "transcript")] if isinstance(document, Mapping) else []
    return next((text.strip() for text in texts if isinstance(text, str)), "")


def _timed(rows: list[Any]) -> Iterator[tuple[float, float, str]]:
    """Yield (start, end, line) of segments of Whisper, chunks of its pipeline, and captions of YouTube."""
    for row in rows:
        if not isinstance(row, Mapping):
            return
        parts = row.get("segs", [])
        line = " ".join(str(row.get("text") or "".join(part.get("utf8", "") for part in parts)).split())
        if "tStartMs" in row:
            begins = float(row["tStartMs"]) / 1000
            ends = begins + float(row.get("dDurationMs", 0)) / 1000
        elif isinstance(row.get("timestamp"), list):
            begins, ends = (float(row["timestamp"][0] or 0), float(row["timestamp"][1] or row["timestamp"][0] or 0))
        elif "start" in row:
            begins = float(row["start"])
            ends = float(row.get("end", begins + float(row.get("duration", 0))))
        else:
            return
        if line:
            yield begins, ends, line


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0.0, seconds), 60)
    return f"{int(minutes) // 60:02}:{int(minutes) % 60:02}:{rest:06.3f}".replace(".", ",")


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
