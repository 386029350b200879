"""Headings of a table that sort its rows: the address names the column, with "-" before it for the other direction."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.functional import Promise

UP, DOWN = "ascending", "descending"
BACK = "-"


@dataclass(frozen=True)
class Heading:
    """A column: its label, the query of its link, and its present order in the words of `aria-sort`, or ""."""

    name: str
    label: str | Promise
    query: str
    order: str


@dataclass(frozen=True)
class Sorting:
    """The column that sorts, whether its first direction is reversed, and the headings by column."""

    column: str
    is_back: bool
    headings: Mapping[str, Heading]


def sorting_of(
    labels: Mapping[str, str | Promise],
    sort: str,
    *,
    rising: Collection[str],
    page_params: Mapping[str, str] | None = None,
) -> Sorting:
    """Return the sorting that `sort` asks for; anything unknown is the first column in its first direction.

    `rising`: columns that begin with the smallest. `page_params`: parameters of the page that links keep.
    """
    column, is_back = sort.removeprefix(BACK), sort.startswith(BACK)
    if column not in labels:
        column, is_back = next(iter(labels)), False
    headings = {
        name: Heading(
            name,
            label,
            query_of(page_params, name if name != column or is_back else BACK + name),
            (UP if (name in rising) != is_back else DOWN) if name == column else "",
        )
        for name, label in labels.items()
    }
    return Sorting(column, is_back, headings)


def query_of(page_params: Mapping[str, str] | None, sort: str) -> str:
    return urlencode({**(page_params or {}), **({"sort": sort} if sort else {})})
