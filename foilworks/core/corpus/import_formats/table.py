"""`table`: any table by a recipe, which says what each column is: CSV, TSV, JSON lines, JSON, Parquet.

PATH is a file, or a folder of files (the recipe's `files`, else its Parquet files). docs/how-to/import-any-table.md.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.any_rows import lists_of, rows_of
from foilworks.core.corpus.import_formats.parsing.column_roles import guesses_of, question_about
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    default_subtest,
    given_dataset,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.row_values import column_of
from foilworks.core.corpus.import_formats.parsing.table_lookups import read_lookup
from foilworks.core.corpus.import_formats.parsing.table_recipe import (
    Recipe,
    RecipeError,
    check_field,
    nearest,
    parse_recipe,
    recipe_named,
    shipped,
)
from foilworks.core.corpus.import_formats.parsing.table_records import record_of, rows_of_row
from foilworks.core.corpus.import_formats.parsing.table_sample import fitting
from foilworks.core.corpus.import_formats.parsing.templates import columns_of
from foilworks.core.corpus.import_formats.parsing.text_files import BY_NAMES, Source, form_of, holds_texts
from foilworks.core.corpus.import_formats.parsing.text_items import read_text_items
from foilworks.core.corpus.import_formats.parsing.video_rows import lists_videos, read_videos
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.records import MAX_LABEL, ItemRecord, ReadOutcome, RecordWarning, TakenColumns
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import load, lookup

TAKES_LIMITS = True
_CLIPS = frozenset({"video", "url", "source_id"})
# Rows whose columns are compared with the recipe's.
FIRST = 50


@dataclass
class _Count:
    """Rows that were read, and those that the conditions left out."""

    rows: int = 0
    left_out: int = 0


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of the table. CorpusError: it cannot be read, or the recipe does not fit it."""
    limits = params.get("limits") or TableLimits()
    if params.get("mapping") or params.get("recipe"):
        yield from _read_by_recipe(path, _recipe(path, params, limits), params, limits)
    elif path.is_dir():
        yield from read_text_items(path, params)
    elif name := _recognized(path, limits):
        problem = f"is {shipped()[name]['title']}: its columns are those of the recipe {name}; else name them yourself"
        yield RecordWarning(f"{path}:1", "file", problem)
        yield from _read_by_recipe(path, _recipe(path, {**params, "recipe": name}, limits), params, limits)
    elif lists_videos(path, limits):
        yield from read_videos(path, params, limits)
    elif (form := form_of(Source(path))) != BY_NAMES:
        yield from load(lookup(IMPORTERS, form, "format")).read(path, params=params)
    elif holds_texts(Source(path, limits=limits)):
        yield from read_text_items(path, params)
    else:
        recipe = _recipe(path, params, limits)
        yield TakenColumns(_taken(recipe))
        yield from _read_by_recipe(path, recipe, params, limits)


def _read_by_recipe(
    path: Path, recipe: Recipe, params: Mapping[str, Any], limits: TableLimits
) -> Iterator[ReadOutcome]:
    for file in _files(path, recipe):
        yield from _read_file(file, path, recipe, params, limits)


def _recognized(path: Path, limits: TableLimits) -> str:
    """Return the only recipe whose published file has these columns; "" if there is none, or several fit."""
    recipes = {name: document for name, document in shipped().items() if {"lookup", "recognized"}.isdisjoint(document)}
    try:
        names = fitting(recipes, _first(path, limits))
    except CorpusError:
        # A list without a header, or no table: the readers of these have the better message.
        return ""
    return names[0] if len(names) == 1 else ""


def _first(path: Path, limits: TableLimits, records: str = "") -> list[Any]:
    rows = rows_of(path, limits, records=records or next(iter(lists_of(path)), ""))
    return [raw.value for raw in islice(rows, FIRST) if not raw.problem]


def _recipe(path: Path, params: Mapping[str, Any], limits: TableLimits) -> Recipe:
    mapping, name = params.get("mapping") or {}, params.get("recipe") or ""
    if name and mapping:
        raise RecipeError("recipe: is given together with a mapping; give one of them")
    document = dict(recipe_named(name) if name else mapping)
    if not name and not _CLIPS & {*document.get("columns", {}), *document.get("values", {})}:
        document = _guess_missing(path, document, params, limits)
    given_values = {"source_dataset": given_dataset(params), "subtest": str(params.get("subtest") or "")[:MAX_LABEL]}
    document["values"] = {**document.get("values", {}), **{name: text for name, text in given_values.items() if text}}
    return parse_recipe(document)


def _guess_missing(
    path: Path, document: Mapping[str, Any], params: Mapping[str, Any], limits: TableLimits
) -> dict[str, Any]:
    """Return the document with the columns that the first rows show. RecipeError: a person must choose one of them."""
    records = document.get("records") or next(iter(lists_of(path)), "")
    rows = _first(path, limits, records)
    columns = document.get("columns", {})
    for name in columns:
        check_field(name)
    chosen = {field: [source] if isinstance(source, str) else source for field, source in columns.items()}
    video_names = params.get("video_names", ())
    roles, guessed = guesses_of(rows, document.get("explode"), video_names=video_names, known=chosen)
    question, names = question_about(roles), guessed["columns"].keys()
    if question or not names & {"caption", "candidates", "class_label"} or not names & _CLIPS:
        guess_text = ", ".join(
            f"{field}={'+'.join(source) if isinstance(source, list) else source}"
            for field, source in guessed["columns"].items()
        )
        problem = question or "no column is known as the caption, or none as the clip"
        fix = f"name them with --column, such as --column caption=NAME (known: {guess_text or 'none'})"
        raise RecipeError(f"{path}: columns: {problem}; {fix}")
    return {"records": records, **document, **guessed, "columns": {**guessed["columns"], **columns}}


def _taken(recipe: Recipe) -> dict[str, str]:
    return {
        field: " + ".join(dict.fromkeys(name for source in sources for name in columns_of(source)))
        for field, sources in recipe.columns.items()
    }


def _files(path: Path, recipe: Recipe) -> list[Path]:
    if not path.is_dir():
        return [path]
    pattern = recipe.files or "*.parquet"
    files = sorted(file for file in path.glob(pattern) if file.is_file())
    if not files:
        raise CorpusError(f"{path}: folder: has no file {pattern}; give a folder that has some, or one file")
    return files


def _read_file(
    file: Path, root: Path, recipe: Recipe, params: Mapping[str, Any], limits: TableLimits
) -> Iterator[ReadOutcome]:
    texts = read_lookup(root, recipe)
    subtest, count = default_subtest(root if root.is_dir() else file, params), _Count()
    rows = _check_columns(
        file, recipe, _with_name(file, recipe, rows_of(file, limits, records=recipe.records, header=recipe.header))
    )
    raw = _selected_rows(recipe, rows, count)
    own_ids, names = "id" in recipe.columns and not (recipe.lists_videos or recipe.numbered), Names()

    def parse(record: RawRecord) -> ItemRecord:
        item = record_of(recipe, record, subtest, texts)
        own_id = names.name(item.id, (item.caption, item.foils)) if recipe.numbered else item.id
        return item if own_id == item.id else replace(item, id=checked_id("id", own_id))

    yield from read_records(file, raw, parse, own_ids=own_ids)
    if count.left_out:
        problem = f"{count.left_out} of {count.rows} rows do not meet the conditions and are left out"
        yield RecordWarning(f"{file}:1", "where", problem)


def _with_name(file: Path, recipe: Recipe, rows: Iterable[RawRecord]) -> Iterator[RawRecord]:
    """Add the parts of the file's name as columns."""
    if not recipe.name_parts:
        yield from rows
        return
    values = file.stem.split(recipe.name_separator or "_", len(recipe.name_parts) - 1)
    name_values = dict(zip(recipe.name_parts, values, strict=False))
    for raw in rows:
        yield raw if raw.problem else raw._replace(value={**raw.value, **name_values})


def _check_columns(file: Path, recipe: Recipe, rows: Iterator[RawRecord]) -> Iterator[RawRecord]:
    """Check that the first rows have the columns of the recipe; memory holds no more than these."""
    first = list(islice(rows, FIRST))
    columns = {name: None for raw in first if not raw.problem for name in raw.value}
    if columns:
        for name in recipe.required:
            if column_of(name, columns) is None:
                shown_columns = [column for column in columns if not column.startswith("@")]
                problem = f"there is no column {quoted(name)}; {nearest(name, shown_columns)}"
                raise RecipeError(f"{file}:{first[0].line}: columns: {problem}")
    # A queue: each row is let go once it is read.
    waiting = deque(first)
    first.clear()
    yield from chain(_drain(waiting), rows)


def _drain(waiting: deque[RawRecord]) -> Iterator[RawRecord]:
    while waiting:
        yield waiting.popleft()


def _selected_rows(recipe: Recipe, rows: Iterable[RawRecord], count: _Count) -> Iterator[RawRecord]:
    """The rows that become records: entries of lists one by one, and those left out that the conditions name."""
    for raw in rows:
        if raw.problem:
            yield raw
            continue
        is_empty = True
        try:
            for value in rows_of_row(recipe, raw.value, count.rows):
                is_empty = False
                yield raw._replace(value=value)
        except ProblemError as error:
            yield raw._replace(value=None, problem=error.problem, field=error.field, fix=error.fix)
            continue
        finally:
            count.rows += 1
        count.left_out += is_empty and bool(recipe.where)
