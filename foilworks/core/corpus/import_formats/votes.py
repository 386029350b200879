"""`votes`: raw judgements of a past study, a table or JSON lines of `item, annotator, choice[, position, foil]`.

Also the `votes.jsonl` and `votes.csv` that our exports write: of their columns `stage` and `state` those judgements
count that are validators' and counted. Annotators should be under pseudonyms: they are stored as they are given.
Votes that name nobody there (`source` import, `unnamed-1` …) are counts, and are stored as such.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.judgements import (
    MAX_ANNOTATOR,
    PassedOver,
    caption_is_first,
    choice_of,
    foil_of,
    read_votes,
)
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, json_lines
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, SEMICOLON, TAB, read_rows
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL
from foilworks.core.corpus.rules.escaped_cells import CellReader
from foilworks.core.corpus.vote_records import VoteOutcome, VoteRecord, is_anonymous_name, is_anonymous_vote
from foilworks.core.text.quoting import quoted

YIELDS = "votes"
_NAMES = ("item", "annotator", "subtest", "kind", "stage", "state", "source")
COUNTED = {"stage": "validation", "state": "counted"}
_MAX_SECONDS = 1e7


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[VoteOutcome]:
    """The judgements of the file. CorpusError when it cannot be read as a whole."""
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        raw = json_lines(path)
    else:
        rows = read_rows(path, ["item", "annotator", "choice"], COMMA + SEMICOLON + TAB)
        cells = CellReader(path, _NAMES)
        raw = (row._replace(value=cells.read(row.value)) for row in rows)
    yield from read_votes(path, raw, _parse)


def _parse(raw: RawRecord) -> VoteRecord:
    fields = Fields(raw.value)
    for name, counted_value in COUNTED.items():
        value = fields.label(name, MAX_LABEL) or counted_value
        if value != counted_value:
            raise PassedOver(f"its {name} is {quoted(value)}")
    caption_first = caption_is_first(fields.get("position"))
    annotator = _required_label(fields, "annotator", MAX_ANNOTATOR)
    is_nameless = is_anonymous_vote(str(fields.get("source")), annotator)
    if is_anonymous_name(annotator) and not is_nameless:
        problem = f"is {quoted(annotator)}, which exports give to votes that name nobody"
        raise ProblemError("annotator", problem, "give another pseudonym, or the source 'import' if it is such a vote")
    return VoteRecord(
        item=_required_label(fields, "item", MAX_LABEL + 1 + MAX_ID),
        annotator=annotator,
        choice=choice_of(fields.get("choice"), caption_first),
        foil=foil_of(fields.get("foil")),
        caption_first=caption_first,
        seconds=_seconds(fields.get("seconds")),
        is_nameless=is_nameless,
        line=raw.line,
    )


def _required_label(fields: Fields, name: str, limit: int) -> str:
    value = fields.label(name, limit)
    if not value.strip():
        raise ProblemError(name, "is missing", "name it")
    return value


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds <= _MAX_SECONDS:
        raise ProblemError("seconds", f"is {quoted(str(value))}", "give a number from 0 up, or omit it")
    return seconds
