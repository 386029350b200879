"""Build a record from one row of any table, as its recipe says. Pure."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from foilworks.core.corpus.import_formats import jsonl
from foilworks.core.corpus.import_formats.parsing.cell_lists import foils_in, options_in
from foilworks.core.corpus.import_formats.parsing.clip_fields import clip_of
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.questions import Question, answer_index, option_texts, texts_of
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, made_id, video_alone
from foilworks.core.corpus.import_formats.parsing.row_values import (
    KEY,
    MADE_COLUMNS,
    NAME,
    PLACE,
    SUBTEST,
    TEXT,
    VALUE,
    Row,
    as_seconds,
    as_text,
    column_of,
    exploded,
    nested,
    plain_cell,
    unfolded,
    value_at,
)
from foilworks.core.corpus.import_formats.parsing.table_recipe import EXTRA, FACTS, SEVERAL, Recipe
from foilworks.core.corpus.import_formats.parsing.templates import columns_of, fill
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.text.markup import without_markup
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
MAX_CANDIDATES = 100


def rows_of_row(recipe: Recipe, row: Row, number: int) -> Iterator[dict[str, Any]]:
    """The rows that an entry of the file becomes, those that the conditions leave out not among them.

    `number`: of the entry, from 0.
    """
    row = {NAME: row.get(KEY, str(number)), **row}
    if VALUE in row and VALUE not in recipe.own_columns:
        # ProblemError: it is not an object.
        Fields(row[VALUE])
    rows = unfolded(row, recipe.unfold) if recipe.unfold else iter([dict(row)])
    if recipe.explode:
        rows = exploded(row, recipe.explode, recipe.separator, recipe.parts)
    if recipe.each:
        rows = ({**inner, VALUE: inner.get(name), PLACE: k} for inner in rows for k, name in enumerate(recipe.each, 1))
    for entry_row in rows:
        if all(condition.holds(entry_row) for condition in recipe.where):
            yield entry_row


def record_of(recipe: Recipe, raw: RawRecord, subtest: str, texts: Mapping[str, str] | None = None) -> ItemRecord:
    """ProblemError: the row cannot be a record. `texts`: those of the recipe's lookup, by key."""
    row = dict(raw.value)
    own_subtest = _field(recipe, "subtest", row) if "subtest" in recipe.columns else None
    row[SUBTEST] = recipe.values.get("subtest") or own_subtest or subtest
    if recipe.lookup_key:
        row = {**row, TEXT: _look_up_text(recipe, row, texts or {})}
    fields = {name: _field(recipe, name, row) for name in recipe.columns}
    fields |= recipe.values
    question_facts: dict[str, Any] = {}
    if "candidates" in fields or "question" in fields:
        question = _question(recipe, fields, row)
        fields["caption"], foils, question_facts = texts_of(question)
        fields["foils"] = list(foils)
        question_facts = {} if question.is_caption else question_facts
    elif len(fields.get("foils") or ()) == 1 and fields.get("caption") and not recipe.exact:
        fields["foils"] = foils_in(fields["foils"][0], fields["caption"])
    record = {name: value for name, value in fields.items() if name in jsonl.COLUMNS and value is not None}
    record |= _proficiency(fields)
    record["facts"] = {**_facts(recipe, row, fields), **question_facts}
    extra = {name.removeprefix(EXTRA): fields[name] for name in fields if name.startswith(EXTRA)}
    record["extra"] = {**(_other_columns(recipe, row) if recipe.extra else {}), **extra}
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


def _field(recipe: Recipe, name: str, row: Row) -> Any:
    if name == "candidate":
        return None
    if (plain := recipe.plain_columns.get(name)) is not None:
        values = [row[column] if column in row else value_at(row, column) for column in plain]
    else:
        values = [fill(source, partial(value_at, row)) for source in recipe.columns[name]]
    if name in SEVERAL:
        return _several(recipe, name, values)
    value = values[0]
    if name in _TIMES:
        return as_seconds(name, value)
    if value is None or name.startswith((FACTS, EXTRA)):
        return value if len(values) == 1 else values
    return _text(recipe, name, value) or None


def _text(recipe: Recipe, name: str, value: Any) -> str:
    text = as_text(name, value)
    return text if recipe.exact else without_markup(text).strip()


def _several(recipe: Recipe, name: str, values: list[Any]) -> list[str] | None:
    if recipe.exact:
        return [_text(recipe, name, value) for value in values]
    entries: list[Any] = []
    if len(values) == 1 and isinstance(values[0], str):
        values = [(options_in(values[0]) if name == "candidates" else None) or values[0]]
    for value in map(nested, values):
        entries += value if isinstance(value, list) else [value]
    texts = ["" if entry is None else _text(recipe, name, entry) for entry in entries]
    while texts and not texts[-1]:
        texts.pop()
    if name == "candidates" and "" in texts:
        # Without it, the numbers of the others would change.
        raise ProblemError(name, f"number {texts.index('') + 1} is empty", "give its text")
    return [text for text in texts if text] or None


def _question(recipe: Recipe, fields: Mapping[str, Any], row: Row) -> Question:
    """The question with its options; without a question, the options are captions."""
    text, kind = fields.get("question") or "", str(fields.get("facts.type") or "")
    if "candidates" not in fields:
        options = [fields.get("caption") or "", *(fields.get("foils") or [])]
        return Question(text, options, 0, kind, is_caption=not text)
    candidates, answer = fields["candidates"] or [], fields.get("answer")
    if not 2 <= len(candidates) <= MAX_CANDIDATES:
        fix = f"give 2 to {MAX_CANDIDATES} candidates"
        raise ProblemError("candidates", f"has {len(candidates)}", fix)
    options = option_texts("candidates", candidates)
    names = [name for source in recipe.columns["candidates"] for name in columns_of(source)]
    if answer in names and len(names) == len(options):
        right = names.index(answer)
    else:
        right = answer_index(options, answer, spelled=candidates, first=recipe.first_answer)
    if "candidate" in recipe.columns:
        source = recipe.columns["candidate"][0]
        options = [fill(source, partial(value_at, {**row, "candidate": option})) for option in candidates]
        if None in options:
            raise ProblemError("candidate", "lacks a value of its template", "correct the row, or the template")
    return Question(text, options, right, kind, is_caption=not text)


def _proficiency(fields: Mapping[str, Any]) -> dict[str, Any]:
    caption, foils = fields.get("proficiency_caption"), fields.get("proficiency_foils")
    return {"proficiency": {"caption": caption, "foils": foils}} if caption or foils else {}


def _facts(recipe: Recipe, row: Row, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The mapped facts, and the other columns that hold one text or number."""
    facts: dict[str, Any] = {}
    if recipe.keep:
        others = _other_columns(recipe, row).items()
        facts = {name: plain_cell(value) for name, value in others if isinstance(value, str | int | float | bool)}
    mapped = {name.removeprefix(FACTS): plain_cell(fields[name]) for name in fields if name.startswith(FACTS)}
    return facts | {name: value for name, value in mapped.items() if value is not None}


def _other_columns(recipe: Recipe, row: Row) -> dict[str, Any]:
    used = {column_of(name, row) for name in recipe.used}
    return {name: value for name, value in row.items() if name not in used and name not in MADE_COLUMNS}


def _look_up_text(recipe: Recipe, row: Row, texts: Mapping[str, str]) -> str:
    key = fill(recipe.lookup_key, partial(value_at, row))
    text = texts.get(str(key))
    if text is None:
        problem = f"{recipe.lookup['file']} has nothing for {quoted(key)}"
        raise ProblemError("@text", problem, "add it there, or leave the row out")
    return text
