"""Find the file of an item in a folder, by the name of its clip or video."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from foilworks.core.corpus.records import TextRecord

# Endings of clips, sounds and transcripts, and languages before them: "a.mp4.mp3.json" and "a.en.vtt" belong to "a".
_ENDING = re.compile(
    r"\.(mp4|m4v|mkv|webm|avi|mov|gif|mp3|m4a|wav|flac|ogg|srt|vtt|txt|json|[a-z]{2}(-[A-Za-z]{2,4})?)$", re.IGNORECASE
)


def files_by_name(folder: Path, suffixes: tuple[str, ...] = ()) -> dict[str, Path]:
    """Return the files below the folder by their path in it, their name, and their name without its endings.

    `suffixes`: only these files, in lower case; () for all. Of two files with one name, the whole names come first.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    used = [path for path in paths if not suffixes or path.suffix.lower() in suffixes]
    exact = {name: path for path in used for name in (path.stem, path.name, str(path.relative_to(folder)))}
    return {name: path for path in used for name in _shorter(path.name)} | exact


def file_of(record: TextRecord, files: Mapping[str, Path]) -> Path | None:
    """Return the file of an item, None without one."""
    return next((files[name] for name in _names(record) if name in files), None)


def _names(record: TextRecord) -> Iterator[str]:
    for name in filter(None, (record.file, record.clip, record.video)):
        yield from (name, Path(name).name, Path(name).stem)


def _shorter(name: str) -> Iterator[str]:
    while match := _ENDING.search(name):
        name = name[: match.start()]
        yield name
