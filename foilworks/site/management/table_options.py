"""Define the options of `foilworks import table`: what each column is, on the command line or in a recipe.

Define the option `--column` of the commands that read tables, and the warning about unused columns.

Define the options of the commands that read a benchmark (`audit`, `prune`), and turn them into `ReadOptions`.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.audit.file_reader import formats
from evaluation.errors import EvaluationError
from evaluation.score_files.tables import parse_columns
from foilworks.core.corpus.import_formats.parsing.column_names import ROLES
from foilworks.core.corpus.import_formats.parsing.table_recipe import SEVERAL, RecipeError
from foilworks.core.corpus.import_formats.parsing.text_files import ROLE_OF_FIELD
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.limits import table_limits
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.library.inputs import ReadOptions
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


class _Columns(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        try:
            found = parse_columns(values)
        except EvaluationError as error:
            raise argparse.ArgumentError(self, str(error)) from error
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), **found})


def add_columns(parser: CommandParser, more: str = "") -> None:
    """Add the option. `more`: what its help also says, such as the names that can be mapped."""
    parser.add_argument(
        "--column",
        action=_Columns,
        default={},
        dest="columns",
        metavar="WHAT=NAME",
        help="map a column that has a different name in the file, such as id=question_id or right=answer" + more,
    )


def ignored_line(columns: Sequence[str]) -> str:
    return f"warning: unused columns: {', '.join(columns)}"


FORMAT = "format of the file (default: found by the names of its columns):\n"


def add_benchmark_options(parser: CommandParser, parameters: str) -> None:
    """Add FILE, --format, --set, --answers and --column. `parameters`: the help of those of the command itself."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="file of the benchmark, a folder of such files, an export (folder or archive), or an address "
        "hf://datasets/OWNER/NAME@REVISION; several files are one benchmark",
    )
    labels = "\n".join(f"{slug}: {entry.label}" for slug, entry in formats().items()).replace("%", "%%")
    parser.add_argument(
        "--format", default="", dest="form", metavar="F", choices=sorted(formats()), help=f"{FORMAT}{labels}"
    )
    parser.add_argument("--set", action="append", metavar="NAME=VALUE", help=parameters)
    parser.add_argument("--answers", type=Path, metavar="FILE", help="file of the answers by id, if FILE has none")
    add_columns(parser, f"; WHAT is one of: {', '.join(ROLES)}")


def read_options(parser: CommandParser, params: dict[str, str], **options: Any) -> ReadOptions:
    """Return the options, under the limits of the settings; wrong ones end the command."""
    if unknown := sorted(options["columns"].keys() - {*ROLES, *ROLE_OF_FIELD, "prediction"}):
        parser.error(f"--column: {', '.join(unknown)} is not a role; choose from: {', '.join(ROLES)}")
    if options["answers"] and (options["form"] or len(options["files"]) > 1):
        parser.error("--answers needs one file, without --format")
    return ReadOptions(
        format=options["form"],
        columns=options["columns"],
        answers=options["answers"],
        params=params,
        limits=table_limits(),
    )


def whole_number(parser: CommandParser, params: dict[str, str], name: str, default: int) -> int:
    """Take a whole number of the command out of the parameters of the format; another value ends the command."""
    text = params.pop(name, str(default))
    if not text.isascii() or not text.isdecimal():
        parser.error(f"--set {name}={text}: give a whole number")
    return int(text)
