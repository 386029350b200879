"""Sort the rows of a leaderboard by one of its columns, and link each heading to its order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from evaluation.board.leaderboard import Board, BoardRow
from foilworks.core.projects.listing.headings import Heading, query_of, sorting_of

RANK, MODEL, ITEMS = "rank", "model", "items"


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
    labels = {RANK: _("Rank"), MODEL: _("Model"), **{name: name for name in board.columns}, ITEMS: _("Items")}
    sorting = sorting_of(labels, sort, rising={RANK, MODEL}, page_params=page_params)
    name, is_back = sorting.column, sorting.is_back
    is_first = (name, is_back) == (RANK, False)
    return SortedBoard(
        rows=_rows(board, name, is_back),
        headings=sorting.headings,
        metrics=[sorting.headings[column] for column in board.columns],
        query=query_of(page_params, "" if is_first else sort),
        by_rank=is_first,
    )


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
