"""Build a record from one row of any table, as its recipe says. Pure."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from foilworks.core.corpus.import_formats import jsonl
from foilworks.core.corpus.import_formats.parsing.clip_fields import clip_of
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, made_id, video_alone
from foilworks.core.corpus.import_formats.parsing.row_values import (
    Row,
    as_number,
    as_seconds,
    as_text,
    column_of,
    exploded,
    nested,
    plain_cell,
    value_at,
)
from foilworks.core.corpus.import_formats.parsing.table_recipe import FACTS, SEVERAL, Recipe
from foilworks.core.corpus.import_formats.parsing.templates import Source, fill
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.text.quoting import quoted

_SPLITS = {
    "training": "train",
    "validation": "val",
    "validate": "val",
    "valid": "val",
    "dev": "val",
    "testing": "test",
}
_TIMES = ("start_time", "end_time")
_LETTER = re.compile(r"\(?([A-Za-z])\)?[.:]?")
MAX_CANDIDATES = 100


def rows_of_row(recipe: Recipe, row: Row) -> Iterator[dict[str, Any]]:
    """The rows that an entry of the file becomes, those that the conditions leave out not among them."""
    rows = exploded(row, recipe.explode, recipe.separator, recipe.parts) if recipe.explode else iter([dict(row)])
    for entry_row in rows:
        if all(condition.holds(entry_row) for condition in recipe.where):
            yield entry_row


def record_of(recipe: Recipe, raw: RawRecord, subtest: str, texts: Mapping[str, str] | None = None) -> ItemRecord:
    """ProblemError: the row cannot be a record. `texts`: those of the recipe's lookup, by key."""
    row = raw.value
    if recipe.lookup_key:
        row = {**row, "@text": _look_up_text(recipe, row, texts or {})}
    fields = {name: _field(name, sources, row) for name, sources in recipe.columns.items()}
    fields |= recipe.values
    if "candidates" in fields:
        fields |= _choice(recipe, fields, row)
    record = {name: value for name, value in fields.items() if name in jsonl.COLUMNS and value is not None}
    record |= _proficiency(fields)
    record["facts"] = _facts(recipe, row, fields)
    if record.get("split"):
        split = str(record["split"]).strip().lower()
        record["split"] = _SPLITS.get(split, split)
    if recipe.lists_videos:
        check_content(record)
        clip = clip_of(Fields(record))
        return video_alone(clip, split=clip.split, class_label=clip.class_label, line=raw.line)
    if "id" not in recipe.columns:
        record["id"] = made_id(record)
    # A cell of JSON may hold what the cell's text did not show.
    check_content(record)
    return jsonl.parse(raw._replace(value=record), subtest)


def _field(name: str, sources: tuple[Source, ...], row: Row) -> Any:
    if name == "candidate":
        return None
    values = [fill(source, partial(value_at, row)) for source in sources]
    if name in SEVERAL:
        return _several(name, values)
    value = values[0]
    if name in _TIMES:
        return as_seconds(name, value)
    if value is None or name.startswith(FACTS):
        return value if len(values) == 1 else values
    return as_text(name, value).strip() or None


def _several(name: str, values: list[Any]) -> list[str] | None:
    entries: list[Any] = []
    for value in map(nested, values):
        entries += value if isinstance(value, list) else [value]
    texts = [as_text(name, entry).strip() for entry in entries if entry is not None]
    return [text for text in texts if text] or None


def _choice(recipe: Recipe, fields: Mapping[str, Any], row: Row) -> dict[str, Any]:
    """The caption and the foils: the right candidate and the others."""
    candidates, answer = fields["candidates"] or [], fields.get("answer")
    if not 2 <= len(candidates) <= MAX_CANDIDATES:
        fix = f"give 2 to {MAX_CANDIDATES} candidates"
        raise ProblemError("candidates", f"has {len(candidates)}", fix)
    answer_index = _answer_index(candidates, answer, recipe.first_answer)
    if "candidate" in recipe.columns:
        source = recipe.columns["candidate"][0]
        texts = [fill(source, partial(value_at, {**row, "candidate": text})) for text in candidates]
        if None in texts:
            raise ProblemError("candidate", "lacks a value of its template", "correct the row, or the template")
        candidates = texts
    return {"caption": candidates[answer_index], "foils": [*candidates[:answer_index], *candidates[answer_index + 1 :]]}


def _answer_index(candidates: list[str], answer: str | None, first: int) -> int:
    if answer is None:
        raise ProblemError("answer", "is missing", "give the number, letter or text of the right candidate")
    indices = [index for index, text in enumerate(candidates) if text.casefold() == answer.casefold()]
    number = as_number(answer)
    if number is not None:
        if indices and indices != [int(number) - first]:
            problem = f"is {quoted(answer)}, which is both a number and the text of another candidate"
            raise ProblemError("answer", problem, "give its number in a column of its own")
        indices = indices or ([int(number) - first] if number == int(number) else [])
    elif not indices and (letter := _LETTER.fullmatch(answer)):
        indices = [ord(letter[1].upper()) - ord("A")]
    if len(indices) != 1 or not 0 <= indices[0] < len(candidates):
        count = f"the candidates are {len(candidates)}, counted from {first}"
        raise ProblemError("answer", f"{quoted(answer)} is none of them", f"correct the answer ({count})")
    return indices[0]


def _proficiency(fields: Mapping[str, Any]) -> dict[str, Any]:
    caption, foils = fields.get("proficiency_caption"), fields.get("proficiency_foils")
    return {"proficiency": {"caption": caption, "foils": foils}} if caption or foils else {}


def _facts(recipe: Recipe, row: Row, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The mapped facts, and the other columns that hold one text or number."""
    facts: dict[str, Any] = {}
    if recipe.keep:
        used = {column_of(name, row) for name in recipe.used}
        for name, value in row.items():
            if name not in used and not name.startswith("@") and isinstance(value, str | int | float | bool):
                facts[name] = plain_cell(value)
    mapped = {name.removeprefix(FACTS): plain_cell(fields[name]) for name in fields if name.startswith(FACTS)}
    return facts | {name: value for name, value in mapped.items() if value is not None}


def _look_up_text(recipe: Recipe, row: Row, texts: Mapping[str, str]) -> str:
    key = fill(recipe.lookup_key, partial(value_at, row))
    text = texts.get(str(key))
    if text is None:
        problem = f"{recipe.lookup['file']} has nothing for {quoted(key)}"
        raise ProblemError("@text", problem, "add it there, or leave the row out")
    return text
