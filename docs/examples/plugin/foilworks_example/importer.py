"""Read items from lines of `video<TAB>caption<TAB>foil`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.plugins import MAX_TEXT, BadRecord, CorpusError, ItemRecord, ReadOutcome, VideoRecord


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Yield an item per line, or what is wrong with the line. CorpusError: the file as a whole cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: {error}; give a text file in UTF-8") from error
    for number, line in enumerate(lines, 1):
        where, parts = f"{path}:{number}", line.split("\t")
        if len(parts) != 3 or not all(parts):
            yield BadRecord(where, "line", f"has {len(parts)} fields", "write video, caption, foil, with tabs between")
        elif len(line) > MAX_TEXT:
            yield BadRecord(where, "line", f"has {len(line)} characters", f"shorten it to {MAX_TEXT}")
        else:
            video, caption, foil = parts
            yield ItemRecord(
                id=f"{path.stem}:{number}",
                subtest=path.stem,
                video=VideoRecord(key=video.rpartition(".")[0] or video, file=video),
                caption=caption,
                foils=(foil,),
                line=number,
            )
