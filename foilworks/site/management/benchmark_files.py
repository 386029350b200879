"""Define the options by which commands read the files of a benchmark, and read them."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.audit.file_reader import formats
from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.parsing.column_names import ROLES
from foilworks.core.corpus.import_formats.parsing.text_files import ROLE_OF_FIELD, Source
from foilworks.core.corpus.limits import table_limits
from foilworks.site.management.columns import add_columns

# Roles of a file of predictions.
OF_PREDICTIONS = frozenset({"id", "prediction"})


def add_files(parser: CommandParser, params: str) -> None:
    """Add the files, their format, answers and columns. `params`: what `--set` takes beside the format's."""
    labels = "; ".join(f"{slug}: {entry.label}" for slug, entry in formats().items()).replace("%", "%%")
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="file of the benchmark, a folder of such files, or an export (folder or archive); several files "
        "are one benchmark",
    )
    parser.add_argument(
        "--format",
        default="",
        dest="form",
        metavar="F",
        choices=sorted(formats()),
        help=f"format of the file (default: found by the names of its columns): {labels}",
    )
    parser.add_argument("--set", action="append", metavar="NAME=VALUE", help=params)
    parser.add_argument("--answers", type=Path, metavar="FILE", help="file of the answers by id, if FILE has none")
    add_columns(parser, f"; WHAT is one of: {', '.join(ROLES)}")


def check_files(parser: CommandParser, options: dict[str, Any]) -> None:
    """End with a usage error if a column has no such role, or answers go with a format or several files."""
    if unknown := sorted(options["columns"].keys() - {*ROLES, *ROLE_OF_FIELD, "prediction"}):
        parser.error(f"--column: {', '.join(unknown)} is not a role; choose from: {', '.join(ROLES)}")
    if options["answers"] and (options["form"] or len(options["files"]) > 1):
        parser.error("--answers needs one file, without --format")


def sources_of(options: dict[str, Any], params: dict[str, str]) -> list[Source]:
    """Return all files to read. `params`: those of the format. Errors: those of `audit.sources_of`."""
    # Imported here: it imports scikit-learn.
    from evaluation.audit import audit

    columns = {ROLE_OF_FIELD.get(role, role): name for role, name in options["columns"].items()}
    columns = {role: name for role, name in columns.items() if role in ROLES}
    files = [
        Source(path, options["form"], columns, limits=table_limits(), params=params, answers=options["answers"])
        for path in options["files"]
    ]
    return [row for source in files for row in audit.sources_of(source)]


def prediction_columns(options: dict[str, Any]) -> dict[str, str]:
    """Return the columns of files of predictions."""
    return {role: name for role, name in options["columns"].items() if role in OF_PREDICTIONS}


def whole_number(params: dict[str, str], name: str, usual: int) -> int:
    """Take a parameter of the command out of those of the format. EvaluationError: it is not a whole number."""
    text = params.pop(name, str(usual))
    if not text.isascii() or not text.isdecimal():
        raise EvaluationError(f"--set {name}={text}: give a whole number")
    return int(text)
