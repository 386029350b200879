"""Define the option `--column` of the commands that read tables, and the warning about unused columns."""

import argparse
from collections.abc import Sequence

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.score_files.tables import parse_columns


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
