"""`ssv2`: the labels of Something-Something v2, `[{"id", "label", "template", "placeholders"}]`.

The label is the caption ("holding potato next to a bottle"). The template ("Holding [something] next to [something]")
and the placeholders, the things in its slots, are facts. The template without its brackets is the class of the video.
The test file has ids alone; it is imported as records without a label, which are bad.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    read_records,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome
from foilworks.core.text.quoting import quoted

DATASET = "something-something-v2"
_SLOT = re.compile(r"\[[^\[\]]*\]")
_TAKEN = frozenset({"id", "label"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the labels. CorpusError, with the line: the file is not complete JSON."""
    subtest, split = default_subtest(path, params), split_of(path, params)
    raw = (RawRecord(*member) for member in members(path, read_text(path)))
    yield from read_records(path, raw, lambda record: _parse(record, subtest, split))


def _parse(raw: RawRecord, subtest: str, split: str) -> ItemRecord:
    fields = Fields(raw.value)
    name = checked_id("id", fields.label("id", MAX_ID))
    template = fields.sentence("template")
    slots, filled = _SLOT.findall(template), fields.get("placeholders")
    if not isinstance(filled, list):
        raise ProblemError("placeholders", "is not a list", "give what is in the slots of the template")
    for index, text in enumerate(filled):
        check_sentence(f"placeholders[{index}]", text)
    if len(filled) != len(slots):
        problem = f"has {len(filled)} texts, but {quoted(template)} has {len(slots)} slots"
        raise ProblemError("placeholders", problem, "give one text per slot")
    return ItemRecord(
        id=checked_id("id", f"{subtest}:{name}"),
        subtest=subtest,
        video=replace(video_of(DATASET, name), split=split, class_label=_readable(template)),
        caption=fields.sentence("label"),
        facts=fields.without(_TAKEN),
        line=raw.line,
    )


def _readable(template: str) -> str:
    """Return the template as a class name: "Holding something next to something"."""
    return template.replace("[", "").replace("]", "")[:MAX_ID]
