"""Sort the rows of a leaderboard by one of its columns, and link each heading to its order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from evaluation.board.leaderboard import Board, BoardRow

RANK, MODEL, ITEMS = "rank", "model", "items"
UP, DOWN = "ascending", "descending"
BACK = "-"


@dataclass(frozen=True)
class Heading:
    """A column: its label, the query of its link, and its present order in the words of `aria-sort`, or ""."""

    name: str
    label: str
    query: str
    order: str


@dataclass(frozen=True)
class SortedBoard:
    """The rows in the requested order; `query` keeps it. Only the order by rank has groups of tied models."""

    rows: Sequence[BoardRow]
    headings: Mapping[str, Heading]
    metrics: Sequence[Heading]
    query: str
    by_rank: bool

    @property
    def scored(self) -> list[BoardRow]:
        return [row for row in self.rows if row.group is not None]


def sorted_board(board: Board, sort: str, page_params: Mapping[str, str] | None = None) -> SortedBoard:
    """Sort by `sort`: a column, or one with "-" before it for the other direction; anything else sorts by rank.

    The first order of a number is the highest first. Rows without scores are last. `page_params`: parameters of the
    page that links keep.
    """
    names = [RANK, MODEL, *board.columns, ITEMS]
    name = sort.removeprefix(BACK)
    name, is_back = (name, sort.startswith(BACK)) if name in names else (RANK, False)
    labels = {RANK: _("Rank"), MODEL: _("Model"), ITEMS: _("Items")}
    headings = {
        column: Heading(
            column,
            labels.get(column, column),
            _query(page_params, column if column != name or is_back else BACK + column),
            _order(column, is_back) if column == name else "",
        )
        for column in names
    }
    return SortedBoard(
        rows=_rows(board, name, is_back),
        headings=headings,
        metrics=[headings[column] for column in board.columns],
        query=_query(page_params, sort) if (name, is_back) != (RANK, False) else _query(page_params, ""),
        by_rank=name == RANK and not is_back,
    )


def _query(page_params: Mapping[str, str] | None, sort: str) -> str:
    return urlencode({**(page_params or {}), **({"sort": sort} if sort else {})})


def _order(name: str, is_back: bool) -> str:
    first, second = (UP, DOWN) if name in (RANK, MODEL) else (DOWN, UP)
    return second if is_back else first


def _rows(board: Board, name: str, is_back: bool) -> list[BoardRow]:
    """Return rows without a value last; equal rows stay in the order of ranks, because the sort is stable."""
    if name == RANK:
        with_value, without = board.scored, [row for row in board.rows if row.group is None]
        return [*(reversed(with_value) if is_back else with_value), *without]
    value = _value(name)
    sortable = [row for row in board.rows if value(row) is not None]
    unknown = [row for row in board.rows if value(row) is None]
    return [*sorted(sortable, key=value, reverse=is_back if name == MODEL else not is_back), *unknown]


def _value(name: str) -> Callable[[BoardRow], Any]:
    if name == MODEL:
        return lambda row: row.run.label.casefold()
    column = "n" if name == ITEMS else name
    return lambda row: None if row.group is None else row.group.get(column)
