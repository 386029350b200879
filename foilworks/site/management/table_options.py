"""Define the options of `foilworks import table`: what each column is, on the command line or in a recipe."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.corpus.import_formats.parsing.table_recipe import SEVERAL, RecipeError
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.site.imports.recipes import TABLE, find_recipe

# Keys of a recipe that `--set` changes. Of the other names, the format has some as parameters; the rest are fields.
RECIPE_KEYS = {
    "records": "where a JSON file has its list, such as data.items",
    "explode": "column of lists, each entry of which becomes a record",
    "separator": "text between the entries if the cells are texts",
}
_OPTIONS = ("column", "where", "recipe", "save_recipe")


def add_table_options(parser: CommandParser) -> None:
    group = parser.add_argument_group("columns of the format table")
    group.add_argument(
        "--column",
        action="append",
        metavar="FIELD=COLUMN",
        help="what a column is, such as caption=sentence; or a template: caption='{verb} {noun}'; foils take several",
    )
    group.add_argument(
        "--where", action="append", metavar="CONDITION", help="only such rows: annotation=1, 'split in train, val'"
    )
    group.add_argument("--recipe", metavar="NAME", help="recipe of Foilworks or of the project, or a TOML or JSON file")
    group.add_argument("--save-recipe", metavar="NAME", help="save the columns in the project under this name")


def set_help() -> str:
    """Return what `--set` means for the format table, for a help text."""
    return "; ".join(f"{name}: {text}" for name, text in RECIPE_KEYS.items())


def table_params(
    format_slug: str, project: Project, options: Mapping[str, Any], settings: Mapping[str, str]
) -> dict[str, Any]:
    """Return the parameters of the importer: `settings` (of --set), or for the format table its `mapping`.

    RecipeError: wrong options.
    """
    options_given = [name for name in _OPTIONS if options.get(name)]
    if format_slug != TABLE:
        if options_given:
            option = f"--{options_given[0].replace('_', '-')}"
            raise RecipeError(f"{option}: only the format table takes it; write `foilworks import table`")
        return dict(settings)
    own_names = {param.name for param in IMPORTERS[TABLE].params}
    params = {name: text for name, text in settings.items() if name in own_names}
    texts = {name: text for name, text in settings.items() if name not in own_names}
    if not options_given and not texts:
        return params
    document = find_recipe(project, options["recipe"]) if options["recipe"] else {}
    columns = dict(document.get("columns", {}))
    for field, sources in _pairs("--column", options["column"]).items():
        columns[field] = sources if field in SEVERAL else sources[-1]
    values = {name: text for name, text in texts.items() if name not in RECIPE_KEYS}
    document |= {"columns": columns, "values": {**document.get("values", {}), **values}}
    document |= {"where": [*document.get("where", []), *(options["where"] or [])]}
    document |= {name: text for name, text in texts.items() if name in RECIPE_KEYS}
    if options["save_recipe"]:
        document["name"] = options["save_recipe"]
    return {**params, "mapping": document}


def _pairs(option: str, given: Sequence[str] | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for piece in given or ():
        field, equals, source = (part.strip() for part in piece.partition("="))
        if not (field and equals and source):
            raise RecipeError(f"{option}: {quoted(piece)} is not valid; write it as FIELD=…, such as caption=sentence")
        found.setdefault(field, []).append(source)
    return found
