"""What exports to evaluation harnesses share: each item as a choice among its texts, and the clips it is about.

The caption's place is drawn by a hash of the item's id, so that it says nothing and is the same in every export.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.folder import safe_name, write_lines
from foilworks.core.corpus.export_formats.parts.tables import is_trimmed
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent
from foilworks.core.text import model_answers

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
QUESTION = "Which sentence is true of the video?"
ITEMS = "items.jsonl"
# Copied as they are: a harness imports them, Foilworks never does.
FILES = Path(__file__).resolve().parent / "harnesses"
# The product's own reader of answers, copied too: it imports only the standard library.
ANSWER_READER = Path(model_answers.__file__)


def caption_index_of(item: ItemRecord) -> int:
    """Return the index of the caption among the item's texts."""
    return int.from_bytes(hashlib.sha256(item.id.encode("utf-8")).digest()[:8], "big") % (1 + len(item.foils))


def choice_of(item: ItemRecord) -> dict[str, Any]:
    """Return the item as a question with options; `answer` is the letter of the caption.

    CorpusError: more texts than letters.
    """
    if len(item.foils) >= len(LETTERS):
        raise CorpusError(
            f"{item.id}: has {1 + len(item.foils)} texts, but a choice has at most {len(LETTERS)}; export another "
            "format, or release the item with fewer foils"
        )
    caption_index, video = caption_index_of(item), item.video
    trim = {"start": video.start_time, "end": video.end_time, "unit": video.time_unit} if is_trimmed(video) else {}
    return {
        "id": item.id,
        "subtest": item.subtest,
        "test": item.test or item.subtest,
        "video": video.file or video.source_id or video.key,
        **trim,
        "options": [*item.foils[:caption_index], item.caption, *item.foils[caption_index:]],
        "answer": LETTERS[caption_index],
    }


def choices_of(items: Iterable[ItemRecord], release: ReleaseContent | RecordContent) -> list[dict[str, Any]]:
    """Return the items with foils as choices. CorpusError: there is none."""
    choices = [choice_of(item) for item in items if item.foils]
    if not choices:
        raise CorpusError(f"{release.release or release.project}: has no items with foils; release some first")
    return choices


def task_name(release: ReleaseContent | RecordContent) -> str:
    """Return a name that harnesses accept: letters, digits and underscores."""
    name = safe_name(f"{release.project}_{release.release}".strip("_")).lower()
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name).strip("_") or "items"


def write_choices(folder: Path, choices: list[dict[str, Any]], files: Iterable[tuple[str, str]]) -> None:
    """Write the items, the reader of answers, and copies of harness files: (name in FILES, name in the folder)."""
    write_lines(folder / ITEMS, choices)
    copies = [(ANSWER_READER, ANSWER_READER.name), *((FILES / source, name) for source, name in files)]
    for path, name in copies:
        (folder / name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")
