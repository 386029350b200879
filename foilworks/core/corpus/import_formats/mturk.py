"""`mturk`: the result file of an Amazon Mechanical Turk batch, a row an assignment: `WorkerId, AssignmentStatus,
Input.…, Answer.…`.

`item` names the input column with the item's id, `answer` the answer column (`Answer.choice`, or the boolean columns
`Answer.choice.first` … that a form's radio buttons make), `position` the input column that says where the caption
was, `foil` the one with the foil's place. Rejected assignments are passed over. Worker ids are those of people:
they are stored under pseudonyms alone.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.judgements import (
    PassedOver,
    caption_is_first,
    choice_of,
    foil_of,
    read_votes,
)
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, TAB, read_rows
from foilworks.core.corpus.vote_records import VoteOutcome, VoteRecord

YIELDS = "votes"
_WORKER, _STATUS, _SECONDS = "WorkerId", "AssignmentStatus", "WorkTimeInSeconds"
_ITEMS = ("Input.item", "Input.id", "Input.item_id")
_PLACES = ("Input.position", "Input.caption_position", "Input.caption_first")
_FOILS = ("Input.foil", "Input.foil_position")
_ANSWERS = ("Answer.choice", "Answer.answer", "Answer.label")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[VoteOutcome]:
    """The judgements of the batch. CorpusError when the file cannot be read as a whole."""
    raw = read_rows(path, [_WORKER], COMMA + TAB)
    yield from read_votes(path, raw, lambda record: _parse(record, params))


def _parse(raw: RawRecord, params: Mapping[str, Any]) -> VoteRecord:
    cells: Mapping[str, str | None] = raw.value
    status = (cells.get(_STATUS) or "").strip()
    if status.lower() == "rejected":
        raise PassedOver("the assignment was rejected")
    item = (cells.get(_column(cells, "item", params, _ITEMS)) or "").strip()
    worker = (cells.get(_WORKER) or "").strip()
    for name, value in (("item", item), (_WORKER, worker)):
        if not value:
            raise ProblemError(name, "is missing", "give it")
    caption_first = caption_is_first(cells.get(_column(cells, "position", params, _PLACES, is_required=False)))
    foil = cells.get(_column(cells, "foil", params, _FOILS, is_required=False))
    seconds = (cells.get(_SECONDS) or "").strip()
    return VoteRecord(
        item=item,
        annotator=worker,
        choice=choice_of(_answer(cells, params), caption_first, "answer"),
        foil=foil_of(foil),
        caption_first=caption_first,
        seconds=float(seconds) if seconds.isdecimal() else None,
        is_identity=True,
        line=raw.line,
    )


def _column(
    cells: Mapping[str, Any],
    name: str,
    params: Mapping[str, Any],
    usual_names: tuple[str, ...],
    *,
    is_required: bool = True,
) -> str:
    """The column that a parameter names, else the usual one that is there."""
    parameter = str(params.get(name) or "")
    candidates = (parameter, f"Input.{parameter}", f"Answer.{parameter}") if parameter else usual_names
    column_name = next((column for column in candidates if column in cells), "")
    if not column_name and (is_required or parameter):
        raise ProblemError(name, f"has no column ({', '.join(usual_names)})", f"name it with --set {name}=COLUMN")
    return column_name


def _answer(cells: Mapping[str, str | None], params: Mapping[str, Any]) -> str | None:
    """The answer's cell; of boolean columns the ending of the one that is true."""
    parameter = str(params.get("answer") or "")
    stems = (parameter, f"Answer.{parameter}") if parameter else _ANSWERS
    for stem in stems:
        if stem in cells:
            return cells[stem]
    for stem in stems:
        options = {name.removeprefix(f"{stem}."): cell for name, cell in cells.items() if name.startswith(f"{stem}.")}
        ticked = [name for name, cell in options.items() if (cell or "").strip().lower() == "true"]
        if options and len(ticked) != 1:
            raise ProblemError("answer", f"{len(ticked)} of {len(options)} options are true", "correct the row")
        if ticked:
            return ticked[0]
    raise ProblemError("answer", f"has no column ({', '.join(stems)})", "name it with --set answer=COLUMN")
