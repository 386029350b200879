"""`msrvtt`: the captions of MSR-VTT to make foils for.

Either the published JSON, `{"videos": [{"video_id", "category", "split", …}], "sentences": [{"video_id", "sen_id",
"caption"}]}`, or the table of a retrieval split, `video_id, sentence`. The clips are published already cut, so the
times that the JSON gives are those of the film they are from: they are kept as facts and trim nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus.importers.parsing.fields import Fields, ProblemError, check_content
from corpus.importers.parsing.json_records import members_of, read_text
from corpus.importers.parsing.records import Names, RawRecord, checked_id, default_subtest, read_records, video_of
from corpus.importers.parsing.table_rows import COMMA, TAB, read_rows
from corpus.records import MAX_ID, ItemRecord, ReadOutcome
from text.quoting import quoted

DATASET = "MSR-VTT"
# The file of the data set that names its twenty numbers.
CATEGORIES = (
    "music",
    "people",
    "gaming",
    "sports/actions",
    "news/events/politics",
    "education",
    "tv shows",
    "movie/comedy",
    "animation",
    "vehicles/autos",
    "howto",
    "travel",
    "science/technology",
    "animals/pets",
    "kids/family",
    "documentary",
    "food/drink",
    "cooking",
    "beauty/fashion",
    "advertisement",
)
_SPLITS = {"train": "train", "validate": "val", "val": "val", "test": "test"}
_TAKEN = frozenset({"video_id", "sen_id", "caption"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The captions of the file. CorpusError when the file as a whole cannot be read."""
    subtest, text = default_subtest(path, params), read_text(path)
    if text.lstrip().startswith("{"):
        yield from _from_json(path, text, subtest)
        return
    names = Names()
    rows = read_rows(path, ["video_id", "sentence"], COMMA + TAB, names=("video_id",))
    raw = (RawRecord(None, row.cells, row.line, row.problem, "row") for row in rows)
    yield from read_records(path, raw, lambda record: _from_row(record, subtest, names), own_ids=False)


def _from_json(path: Path, text: str, subtest: str) -> Iterator[ReadOutcome]:
    videos: dict[str, Any] = {}
    sentences = []
    for member in members_of(path, text, "videos", "sentences"):
        if member.key == "sentences":
            sentences.append(RawRecord(None, member.value, member.line))
        elif isinstance(member.value, dict):
            videos[str(member.value.get("video_id"))] = member.value
    yield from read_records(path, sentences, lambda record: _from_sentence(record, subtest, videos))


def _from_sentence(raw: RawRecord, subtest: str, videos: Mapping[str, Any]) -> ItemRecord:
    fields = Fields(raw.value)
    name = fields.label("video_id", MAX_ID)
    if name not in videos:
        raise ProblemError("video_id", f"{quoted(name)} is not among the videos", "add the video, or remove the line")
    check_content(videos[name], "video")
    about = Fields(videos[name], "video")
    category = about.get("category")
    known = isinstance(category, int) and 0 <= category < len(CATEGORIES)
    return ItemRecord(
        id=checked_id("sen_id", f"{subtest}:{fields.label('sen_id', MAX_ID)}"),
        subtest=subtest,
        video=replace(
            video_of(DATASET, name),
            split=_SPLITS.get(about.label("split", MAX_ID), ""),
            category=CATEGORIES[category] if known else "",
        ),
        caption=fields.sentence("caption"),
        facts={
            **fields.without(_TAKEN),
            **{name: about.get(name) for name in ("url", "start time", "end time") if about.get(name) is not None},
        },
        line=raw.line,
    )


def _from_row(raw: RawRecord, subtest: str, names: Names) -> ItemRecord:
    fields = Fields(raw.value)
    name, caption = checked_id("video_id", fields.media_name("video_id")), fields.sentence("sentence")
    return ItemRecord(
        id=checked_id("video_id", f"{subtest}:{names.name(name, caption)}"),
        subtest=subtest,
        video=video_of(DATASET, name),
        caption=caption,
        facts=fields.without(frozenset({"video_id", "sentence", "key", "vid_key"})),
        line=raw.line,
    )
