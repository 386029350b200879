"""`rareact`: the table of RareAct, `id, video_id, start, end, class_id, verb, noun, annotation`.

A row says whether the segment shows the verb applied to the noun. Only rows with the `annotation` 1 (positive) are
read, unless the parameter names another value; 2, 3 and 4 are hard negatives and 0 is a negative, so their caption
would be false. The caption is "cutting a keyboard" (ViLMA, Sec. 3.5).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    clip_key,
    default_subtest,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, read_rows
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome, VideoRecord
from foilworks.core.text.language.articles import with_article
from foilworks.core.text.language.verb_forms import verb_form
from foilworks.core.text.quoting import quoted

DATASET = "RareAct"
ANNOTATIONS = {"1": "positive", "2": "only the verb", "3": "only the noun", "4": "verb and noun apart", "0": "negative"}
# Nouns that the table cuts to something that is not a word.
NOUNS = {"clothe": "clothes"}
_COLUMNS = ("id", "video_id", "start", "end", "verb", "noun", "annotation")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the rows with the wanted annotation. CorpusError: no such table, or no such annotation."""
    subtest, annotation = default_subtest(path, params), str(params.get("annotation") or "1")
    if annotation not in ANNOTATIONS:
        options = ", ".join(f"{value} ({meaning})" for value, meaning in ANNOTATIONS.items())
        raise CorpusError(f"parameter 'annotation' is {quoted(annotation)}; give one of: {options}")
    rows = read_rows(path, _COLUMNS, COMMA, names=_COLUMNS)
    raw = (row for row in rows if row.problem or row.value["annotation"] not in ANNOTATIONS.keys() - {annotation})
    yield from read_records(path, raw, lambda record: _parse(record, subtest))


def _parse(raw: RawRecord, subtest: str) -> ItemRecord:
    fields = Fields(raw.value)
    annotation = fields.label("annotation", MAX_ID)
    if annotation not in ANNOTATIONS:
        raise ProblemError("annotation", f"is {quoted(annotation)}", f"give one of {', '.join(sorted(ANNOTATIONS))}")
    verb, noun = fields.sentence("verb").lower(), fields.sentence("noun").lower()
    name = checked_id("video_id", fields.media_name("video_id"))
    start, end = _seconds(fields, "start"), _seconds(fields, "end")
    if end <= start:
        raise ProblemError("end", f"is {end:g}, not after start", "correct the segment")
    return ItemRecord(
        id=checked_id("id", f"{subtest}:{checked_id('id', fields.label('id', MAX_ID))}"),
        subtest=subtest,
        video=VideoRecord(
            key=clip_key(DATASET, name, start, end, "sec"),
            file=name,
            source_dataset=DATASET,
            source_id=name,
            start_time=start,
            end_time=end,
            split="test",
            class_label=f"{verb} {noun}",
        ),
        caption=f"{verb_form(verb, 'VBG')} {with_article(NOUNS.get(noun, noun))}",
        facts={"verb": verb, "noun": noun, "annotation": int(annotation), "class_id": fields.label("class_id", MAX_ID)},
        line=raw.line,
    )


def _seconds(fields: Fields, name: str) -> float:
    text = fields.label(name, MAX_ID)
    try:
        return Fields({name: float(text)}).time(name) or 0.0
    except ValueError as error:
        raise ProblemError(name, f"is {quoted(text)}", "give a number of seconds") from error
