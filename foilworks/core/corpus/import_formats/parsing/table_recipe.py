"""Recipes: which columns of a table become which fields of a record. A document of TOML or JSON, checked here.

docs/how-to/import-any-table.md lists the keys.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.json_records import parse_line
from foilworks.core.corpus.import_formats.parsing.row_filters import Condition, parse_condition
from foilworks.core.corpus.import_formats.parsing.templates import Source, columns_of, is_template, parse_source
from foilworks.core.text.quoting import quoted, shortened

FOLDER = Path(__file__).parent.parent / "recipes"
FIELDS = {
    "caption": "sentence that is true of the video",
    "foils": "false sentences: one or several columns, or a column with a list",
    "candidates": "all candidates of a multiple-choice question: several columns, or one with a list",
    "answer": "the right one of the candidates: its number, letter or text",
    "question": "question that the candidates, or caption and foils, answer",
    "candidate": "template of a candidate's sentence, such as {question} {candidate}",
    "id": "name of the record; made from its contents if not given",
    "video": "file of the clip",
    "url": "address of the clip's file",
    "source_id": "id of the video in its data set",
    "source_dataset": "data set that the video is from",
    "start_time": "start of the clip",
    "end_time": "end of the clip",
    "time_unit": "sec, pts or frames",
    "split": "train, val or test; training, validation and testing are understood",
    "class_label": "class of the video",
    "category": "category of the video",
    "movie": "movie that the clip is from",
    "subtest": "subtest of the item",
    "test": "phenomenon that several subtests share",
    "proficiency_caption": "caption of the proficiency pair",
    "proficiency_foils": "foils of the proficiency pair",
}
FACTS, EXTRA = "facts.", "extra."
SEVERAL = frozenset({"foils", "candidates", "proficiency_foils"})
# What a recipe may hold besides `columns`, with the type of its value.
_KEYS: dict[str, type] = {
    "title": str,
    "summary": str,
    "name": str,
    "columns": dict,
    "values": dict,
    "where": list,
    "records": str,
    "explode": str,
    "unfold": str,
    "separator": str,
    "parts": str,
    "header": list,
    "files": str,
    "name_parts": list,
    "name_separator": str,
    "lookup": dict,
    "first_answer": int,
    "keep": bool,
    "extra": bool,
    "optional": list,
    "recognized": bool,
    "exact": bool,
    "numbered": bool,
    "each": list,
}
_TEXT_LISTS = ("where", "header", "name_parts", "optional", "each")
_LOOKUP = {"file": str, "form": str, "key": str}
LOOKUP_FORMS = ("lines", "tasks")
MAX_CONDITIONS = 20


class RecipeError(CorpusError):
    """A recipe that has no meaning, or does not fit the file."""


@dataclass(frozen=True)
class Recipe:
    """`columns`: field -> where its value is; `values`: field -> fixed text; `keep`: other columns become facts;
    `extra`: they are stored for exports.

    `records`: path of the list in a JSON file; `explode`: column whose entries become one record each, split at
    `separator` and `parts`; `unfold`: column of a list of objects, whose fields are columns; `optional`: columns that a
    file may lack; `each`: columns that become one record each; `exact`: texts keep the blanks around them; `numbered`:
    further records with an id get #2, #3; `header`: names of the columns if the file has none; `files`: which files of
    a folder; `name_parts`: columns that the name of a file holds. `lookup`: a file beside it that has texts by key.
    """

    columns: Mapping[str, tuple[Source, ...]]
    values: Mapping[str, str] = field(default_factory=dict)
    where: tuple[Condition, ...] = ()
    records: str = ""
    explode: str = ""
    separator: str = ""
    parts: str = ""
    header: tuple[str, ...] = ()
    files: str = ""
    name_parts: tuple[str, ...] = ()
    name_separator: str = "_"
    lookup: Mapping[str, Any] = field(default_factory=dict)
    lookup_key: Source = ()
    first_answer: int = 0
    keep: bool = True
    extra: bool = False
    unfold: str = ""
    optional: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    exact: bool = False
    numbered: bool = False

    @cached_property
    def lists_videos(self) -> bool:
        """Whether its records are videos without captions, with their classes."""
        return not {*self.columns, *self.values} & {"caption", "candidates"}

    @cached_property
    def required(self) -> list[str]:
        """Names of the used columns that a file must have."""
        return [name for name in self.used if name not in self.optional]

    @cached_property
    def own_columns(self) -> list[str]:
        """Names that begin with @, of what the file says without a column."""
        names = [name for sources in self.columns.values() for source in sources for name in columns_of(source)]
        return [name.partition(".")[0] for name in [*names, self.explode] if name.startswith("@")]

    @cached_property
    def used(self) -> list[str]:
        """Names of columns, with dots, that the recipe reads from the file."""
        names = [name for sources in self.columns.values() for source in sources for name in columns_of(source)]
        names += [condition.name for condition in self.where]
        names += self.each
        names += [self.unfold] * bool(self.unfold)
        names += [self.explode] * bool(self.explode) + columns_of(self.lookup_key)
        return [name for name in dict.fromkeys(names) if name != "candidate" and not name.startswith("@")]

    @cached_property
    def plain_columns(self) -> dict[str, list[str]]:
        """The columns of each field that has no template."""
        return {
            name: [source[0].column or "" for source in sources]
            for name, sources in self.columns.items()
            if not any(map(is_template, sources))
        }


def parse_recipe(document: Any) -> Recipe:
    """RecipeError or CorpusError: an unknown key or field, or a value of another kind, each with what is meant."""
    if not isinstance(document, Mapping):
        raise RecipeError("recipe: is not an object; give one with the field columns")
    _check_keys(document, _KEYS, "recipe")
    lists = {key: tuple(_texts(key, document.get(key, ()))) for key in _TEXT_LISTS}
    columns = document.get("columns", {})
    for name in [*columns, *document.get("values", {})]:
        check_field(name)
    lookup = document.get("lookup", {})
    if lookup:
        _check_lookup(lookup)
    if len(lists["where"]) > MAX_CONDITIONS:
        raise RecipeError(f"where: has more than {MAX_CONDITIONS} conditions; remove some")
    copied_keys = (
        "records",
        "explode",
        "separator",
        "parts",
        "files",
        "name_separator",
        "first_answer",
        "keep",
        "extra",
        "unfold",
        "exact",
        "numbered",
    )
    recipe = Recipe(
        columns={name: _sources(name, column) for name, column in columns.items() if column not in ("", [])},
        values={name: _text(f"values.{name}", text) for name, text in document.get("values", {}).items() if text},
        where=tuple(parse_condition(text) for text in lists["where"]),
        header=lists["header"],
        name_parts=lists["name_parts"],
        optional=lists["optional"],
        each=lists["each"],
        lookup=lookup,
        lookup_key=parse_source(lookup["key"]) if lookup else (),
        **{key: document[key] for key in copied_keys if key in document},
    )
    _check_together(recipe)
    return recipe


def _check_together(recipe: Recipe) -> None:
    field_names = {*recipe.columns, *recipe.values}
    if not field_names:
        raise RecipeError("columns: none is given; map at least caption, or class_label for videos without captions")
    if ("candidates" in field_names) != ("answer" in field_names):
        missing = "answer" if "candidates" in field_names else "candidates"
        raise RecipeError(f"columns: {missing} is missing; give both candidates and answer, or neither")
    if "question" in field_names and not field_names & {"candidates", "foils"}:
        raise RecipeError("columns: question has no answers; map candidates and answer, or caption and foils")
    if "candidates" in field_names and field_names & {"caption", "foils"}:
        raise RecipeError("columns: caption and foils come from the candidates; leave them out, or candidates")
    if not field_names & {"caption", "candidates", "class_label"}:
        fix = "map it, such as caption=sentence, or class_label for videos without captions"
        raise RecipeError(f"columns: caption is missing; {fix}")
    if not field_names & {"video", "url", "source_id"}:
        raise RecipeError("columns: no clip is named; map video (a file) or source_id (an id)")
    if recipe.first_answer not in (0, 1):
        raise RecipeError(f"first_answer: is {recipe.first_answer}; give 0 or 1, the number of the first candidate")
    path = PurePosixPath(recipe.files)
    if path.is_absolute() or ".." in path.parts:
        raise RecipeError(f"files: {quoted(recipe.files)} leaves the folder; give a pattern below it")


def _sources(name: str, columns: Any) -> tuple[Source, ...]:
    if isinstance(columns, list) and name not in SEVERAL and not name.startswith((FACTS, EXTRA)):
        raise RecipeError(f"columns.{name}: takes one column, not a list; use a template such as {{verb}} {{noun}}")
    sources = columns if isinstance(columns, list) else [columns]
    return tuple(parse_source(_text(f"columns.{name}", text)) for text in sources)


def check_field(name: str) -> None:
    """RecipeError: there is no such field."""
    if name not in FIELDS and not (name.startswith((FACTS, EXTRA)) and name not in (FACTS, EXTRA)):
        raise RecipeError(f"columns: {quoted(name)} is not a field; {nearest(name, FIELDS)}")


def _check_lookup(lookup: Mapping[str, Any]) -> None:
    _check_keys(lookup, _LOOKUP, "lookup")
    for key in _LOOKUP:
        if not lookup.get(key):
            raise RecipeError(f"lookup.{key}: is missing; give file, form and key")
    if lookup["form"] not in LOOKUP_FORMS:
        raise RecipeError(f"lookup.form: is {quoted(lookup['form'])}; give one of {', '.join(LOOKUP_FORMS)}")
    path = PurePosixPath(lookup["file"])
    if path.is_absolute() or ".." in path.parts or "\\" in lookup["file"]:
        raise RecipeError(f"lookup.file: {quoted(lookup['file'])} leaves the folder; give a file below it")


def _check_keys(document: Mapping[str, Any], keys: Mapping[str, type], section: str) -> None:
    for key, value in document.items():
        if key not in keys:
            raise RecipeError(f"{section}: {quoted(key)} is not a key of a recipe; {nearest(str(key), keys)}")
        if not isinstance(value, keys[key]) or (keys[key] is int and isinstance(value, bool)):
            raise RecipeError(f"{section}.{key}: is {quoted(value)}; give {_KINDS[keys[key]]}")


_KINDS = {str: "text", dict: "an object", list: "a list", int: "a whole number", bool: "true or false"}


def _texts(key: str, texts: Any) -> list[str]:
    return [_text(key, text) for text in texts]


def _text(key: str, text: Any) -> str:
    if not isinstance(text, str):
        raise RecipeError(f"{key}: {quoted(text)} is not text; give text")
    return text


def nearest(name: str, known_names: Any) -> str:
    """What to do about an unknown name: the nearest known one, or all."""
    by_lower = {str(known_name).lower(): str(known_name) for known_name in known_names}
    near_names = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    spellings = [shortened(str(known_name), 40) for known_name in known_names]
    all_of_them = f"use one of: {', '.join(spellings[:12])}{', …' if len(spellings) > 12 else ''}"
    return f"did you mean {quoted(by_lower[near_names[0]])}?" if near_names else all_of_them


@cache
def shipped() -> Mapping[str, Mapping[str, Any]]:
    """The recipes that come with Foilworks, by name."""
    return {path.stem: load_recipe(path) for path in sorted(FOLDER.glob("*.toml"))}


def load_recipe(path: Path) -> dict[str, Any]:
    """The document in a file of TOML or JSON. RecipeError: the file cannot be read."""
    read: Callable[[str], Any] = tomllib.loads
    try:
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith("{"):
            read = parse_line
        document = read(text)
    except (OSError, ValueError, RecursionError) as error:
        raise RecipeError(f"{path}: recipe: cannot be read ({error}); give a file of TOML or JSON") from error
    if not isinstance(document, dict):
        raise RecipeError(f"{path}: recipe: is not an object; give one with the field columns")
    return document


def recipe_named(name: str) -> Mapping[str, Any]:
    if name not in shipped():
        raise RecipeError(f"recipe: there is no recipe {quoted(name)}; {nearest(name, shipped())}")
    return shipped()[name]
