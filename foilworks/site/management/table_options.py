"""Define the options of `foilworks import table`: what each column is, on the command line or in a recipe."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.corpus.import_formats.parsing.table_recipe import SEVERAL, RecipeError
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.site.imports.recipes import TABLE, find_recipe

# Option -> key of a recipe.
_ONE = {"records": "records", "explode": "explode", "separator": "separator"}
_GIVEN = ("column", "value", "where", "recipe", "save_recipe", *_ONE)


def add_table_options(parser: CommandParser) -> None:
    group = parser.add_argument_group("columns of the format table")
    group.add_argument(
        "--column",
        action="append",
        metavar="FIELD=COLUMN",
        help="what a column is, such as caption=sentence; or a template: caption='{verb} {noun}'; foils take several",
    )
    group.add_argument("--value", action="append", metavar="FIELD=TEXT", help="one text for all records; repeatable")
    group.add_argument(
        "--where", action="append", metavar="CONDITION", help="only such rows: annotation=1, 'split in train, val'"
    )
    group.add_argument("--records", metavar="PATH", help="where a JSON file has its list: database, data.items")
    group.add_argument("--explode", metavar="COLUMN", help="column of lists, each entry of which becomes a record")
    group.add_argument("--separator", metavar="TEXT", help="text between the entries if the cells are texts")
    group.add_argument("--recipe", metavar="NAME", help="recipe of Foilworks or of the project, or a TOML or JSON file")
    group.add_argument("--save-recipe", metavar="NAME", help="save the columns in the project under this name")


def table_params(format_slug: str, project: Project, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the importer's parameter `mapping`, or {} without any of the options. RecipeError: wrong options."""
    given = [name for name in _GIVEN if options.get(name)]
    if not given:
        return {}
    if format_slug != TABLE:
        option = f"--{given[0].replace('_', '-')}"
        raise RecipeError(f"{option}: only the format table takes it; write `foilworks import table`")
    document = find_recipe(project, options["recipe"]) if options["recipe"] else {}
    columns = dict(document.get("columns", {}))
    for field, sources in _pairs("--column", options["column"]).items():
        columns[field] = sources if field in SEVERAL else sources[-1]
    values = {name: texts[-1] for name, texts in _pairs("--value", options["value"]).items()}
    document |= {"columns": columns, "values": {**document.get("values", {}), **values}}
    document |= {"where": [*document.get("where", []), *(options["where"] or [])]}
    document |= {key: options[option] for option, key in _ONE.items() if options[option]}
    if options["save_recipe"]:
        document["name"] = options["save_recipe"]
    return {"mapping": document}


def _pairs(option: str, given: Sequence[str] | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for piece in given or ():
        field, equals, source = (part.strip() for part in piece.partition("="))
        if not (field and equals and source):
            raise RecipeError(f"{option}: {quoted(piece)} is not valid; write it as FIELD=…, such as caption=sentence")
        found.setdefault(field, []).append(source)
    return found
