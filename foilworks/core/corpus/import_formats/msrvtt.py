"""`msrvtt`: the captions of MSR-VTT to make foils for, and its multiple-choice list.

The captions are in the published JSON, `{"videos": [{"video_id", "category", "split", …}], "sentences": [{"video_id",
"sen_id", "caption"}]}`, or in the table of a retrieval split, `video_id, sentence`. The multiple-choice list is JSON
lines, `{"qid", "clip_name", "answer": "0", "options": [five captions]}`: items with four foils. The clips are published
already cut, so the times that the JSON gives are those of the film they are from: they are kept as facts and trim
nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_content, check_sentence
from foilworks.core.corpus.import_formats.parsing.json_records import members_of, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    default_subtest,
    json_lines,
    read_records,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, TAB, read_rows
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome
from foilworks.core.corpus.rules.hard_foils import HARD_FOIL
from foilworks.core.text.quoting import quoted

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
_OPTION_FIELDS = frozenset({"qid", "clip_name", "answer", "options"})
MIN_OPTIONS = 2


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The captions of the file. CorpusError when the file as a whole cannot be read."""
    subtest, text = default_subtest(path, params), read_text(path)
    if _is_multiple_choice(text):
        yield from read_records(path, json_lines(path), lambda record: _from_options(record, subtest))
        return
    if text.lstrip().startswith("{"):
        yield from _from_json(path, text, subtest)
        return
    names, split = Names(), split_of(path, params)
    raw = read_rows(path, ["video_id", "sentence"], COMMA + TAB, names=("video_id",))
    yield from read_records(path, raw, lambda record: _from_row(record, subtest, split, names), own_ids=False)


def _is_multiple_choice(text: str) -> bool:
    """Report whether the first line is a complete object with options."""
    line = text.lstrip().partition("\n")[0].rstrip()
    return line.startswith("{") and line.endswith("}") and '"options"' in line and '"sentences"' not in line


def _from_options(raw: RawRecord, subtest: str) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("clip_name", fields.media_name("clip_name"))
    options, answer = fields.get("options"), fields.label("answer", MAX_ID)
    if not isinstance(options, list) or len(options) < MIN_OPTIONS:
        raise ProblemError("options", "is no list of captions", f"give at least {MIN_OPTIONS}")
    if answer not in map(str, range(len(options))):
        raise ProblemError("answer", f"is {quoted(answer)}", f"give the place of the caption, 0 to {len(options) - 1}")
    texts = [check_sentence(f"options[{index}]", text) for index, text in enumerate(options)]
    caption = texts.pop(int(answer))
    return ItemRecord(
        id=checked_id("qid", f"{subtest}:{checked_id('qid', fields.label('qid', MAX_ID))}"),
        subtest=subtest,
        video=replace(video_of(DATASET, name), split="test"),
        caption=caption,
        foils=tuple(texts),
        # All of them are captions of other videos, and people choose among them.
        facts={HARD_FOIL: None},
        extra={"answer": int(answer), **fields.without(_OPTION_FIELDS)},
        line=raw.line,
    )


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
    video_fields = Fields(videos[name], "video")
    category = video_fields.get("category")
    has_category = isinstance(category, int) and 0 <= category < len(CATEGORIES)
    return ItemRecord(
        id=checked_id("sen_id", f"{subtest}:{fields.label('sen_id', MAX_ID)}"),
        subtest=subtest,
        video=replace(
            video_of(DATASET, name),
            split=_SPLITS.get(video_fields.label("split", MAX_ID), ""),
            category=CATEGORIES[category] if has_category else "",
        ),
        caption=fields.sentence("caption"),
        facts={
            **fields.without(_TAKEN),
            **{
                name: video_fields.get(name)
                for name in ("url", "start time", "end time")
                if video_fields.get(name) is not None
            },
        },
        line=raw.line,
    )


def _from_row(raw: RawRecord, subtest: str, split: str, names: Names) -> ItemRecord:
    fields = Fields(raw.value)
    name, caption = checked_id("video_id", fields.media_name("video_id")), fields.sentence("sentence")
    return ItemRecord(
        id=checked_id("video_id", f"{subtest}:{names.name(name, caption)}"),
        subtest=subtest,
        video=replace(video_of(DATASET, name), split=split),
        caption=caption,
        facts=fields.without(frozenset({"video_id", "sentence", "key", "vid_key"})),
        line=raw.line,
    )
