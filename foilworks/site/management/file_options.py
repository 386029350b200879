"""Define the options of the commands on files, which run without tables.

`--column` of the commands that read tables, with the warning about unused columns; the options of those that read a
benchmark (`audit`, `prune`), as `ReadOptions`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.audit.file_reader import formats
from evaluation.errors import EvaluationError
from evaluation.score_files.tables import parse_columns
from foilworks.core.corpus.import_formats.parsing.column_names import ROLES
from foilworks.core.corpus.import_formats.parsing.text_files import ROLE_OF_FIELD
from foilworks.core.corpus.limits import table_limits
from foilworks.library.inputs import ReadOptions


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
