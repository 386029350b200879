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


def sorted_board(shown: Board, asked: str, others: Mapping[str, str] | None = None) -> SortedBoard:
    """Sort by `asked`: a column, or one with "-" before it for the other direction; anything else sorts by rank.

    The first order of a number is the highest first. Rows without scores are last. `others`: parameters of the page
    that links keep.
    """
    names = [RANK, MODEL, *shown.columns, ITEMS]
    name = asked.removeprefix(BACK)
    name, is_back = (name, asked.startswith(BACK)) if name in names else (RANK, False)
    labels = {RANK: _("Rank"), MODEL: _("Model"), ITEMS: _("Items")}
    headings = {
        each: Heading(
            each,
            labels.get(each, each),
            _query(others, each if each != name or is_back else BACK + each),
            _order(each, is_back) if each == name else "",
        )
        for each in names
    }
    return SortedBoard(
        rows=_rows(shown, name, is_back),
        headings=headings,
        metrics=[headings[each] for each in shown.columns],
        query=_query(others, asked) if (name, is_back) != (RANK, False) else _query(others, ""),
        by_rank=name == RANK and not is_back,
    )


def _query(others: Mapping[str, str] | None, sort: str) -> str:
    return urlencode({**(others or {}), **({"sort": sort} if sort else {})})


def _order(name: str, is_back: bool) -> str:
    first, second = (UP, DOWN) if name in (RANK, MODEL) else (DOWN, UP)
    return second if is_back else first


def _rows(shown: Board, name: str, is_back: bool) -> list[BoardRow]:
    """Return rows without a value last; equal rows stay in the order of ranks, because the sort is stable."""
    if name == RANK:
        with_value, without = shown.scored, [row for row in shown.rows if row.group is None]
        return [*(reversed(with_value) if is_back else with_value), *without]
    value = _value(name)
    known = [row for row in shown.rows if value(row) is not None]
    unknown = [row for row in shown.rows if value(row) is None]
    return [*sorted(known, key=value, reverse=is_back if name == MODEL else not is_back), *unknown]


def _value(name: str) -> Callable[[BoardRow], Any]:
    if name == MODEL:
        return lambda row: row.run.label.casefold()
    column = "n" if name == ITEMS else name
    return lambda row: None if row.group is None else row.group.get(column)
