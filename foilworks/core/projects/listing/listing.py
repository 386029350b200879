"""One list of a page: rows in an order, a count that never reads more than it shows, and the address that says all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from foilworks.core.projects.listing.columns import PARAMETER, Columns
from foilworks.core.projects.listing.keyset import Order, Page, page_of

# Counted exactly up to here; beyond, people read "10,000+".
MAX_COUNT = 10_000


@dataclass(frozen=True)
class Count:
    """How many rows fit, or that they are more than MAX_COUNT."""

    n: int

    @property
    def is_exact(self) -> bool:
        return self.n <= MAX_COUNT

    def __str__(self) -> str:
        return f"{min(self.n, MAX_COUNT):,}{'' if self.is_exact else '+'}"


@dataclass(frozen=True)
class Listing:
    """What foilworks/list.html shows. `query`: filters, columns and order for links, empty or ending in `&`.

    `filters`: the same without the order; `columns`: the columns alone. `cursor`: where the page starts, as in the
    address.
    """

    page: Page
    count: Count
    order: Order
    orders: Sequence[Order]
    query: str
    filters: str
    cursor: str = ""
    is_filtered: bool = False
    columns: str = ""

    @property
    def view(self) -> str:
        """The query string of the page as it is: filters, order and position; empty for the first page of all rows."""
        position = urlencode({"after": self.cursor}) if self.cursor else ""
        query = f"{self.query}{position}".removesuffix("&")
        return f"?{query}" if query else ""

    @property
    def range(self) -> str:
        """The rows of this page among all that fit, such as "26–50 of 10,000+"; empty without rows.

        Where a row holds several records, they are counted, and the range says so.
        """
        if not self.page.rows:
            return ""
        rows, records = _("%(first)s–%(last)s of %(count)s"), _("records %(first)s–%(last)s of %(count)s")
        return (records if self.page.folded else rows) % {
            "first": f"{self.page.first:,}",
            "last": f"{self.page.last:,}",
            "count": self.count,
        }


def list_rows(
    rows: QuerySet,
    orders: Sequence[Order],
    data: QueryDict,
    valid_filters: Mapping[str, object],
    add_columns: Callable[[QuerySet], QuerySet] = lambda rows: rows,
    columns: Columns | None = None,
) -> Listing:
    """Return the page that `data` asks for (`sort`, `after`); two queries, three if the order measures.

    `valid_filters`: those of the form. `add_columns`: adds what a row shows, which the count need not read.
    `columns`: links keep those that were chosen.
    """
    order = order_of(orders, data)
    filters = QueryDict(mutable=True)
    filters.update({name: "on" if value is True else str(value) for name, value in valid_filters.items()})
    kept = QueryDict(mutable=True)
    if columns and columns.from_address:
        kept.setlist(PARAMETER, list(columns.from_address))
    is_filtered = bool(filters)
    filters.update(kept)
    full = filters.copy()
    if order is not orders[0]:
        full["sort"] = order.slug
    cursor = data.get("after", "")
    page = page_of(add_columns(rows), order, cursor)
    return Listing(
        page, count_of(rows, order), order, orders, _prefix(full), _prefix(filters), cursor, is_filtered, _prefix(kept)
    )


def order_of(orders: Sequence[Order], data: QueryDict) -> Order:
    """Return the order that the address names, else the first."""
    return {option.slug: option for option in orders}.get(data.get("sort", ""), orders[0])


def count_of(rows: QuerySet, order: Order) -> Count:
    """Count the rows, MAX_COUNT + 1 of them at most."""
    # Unsorted, PostgreSQL may read both tables of a join from their start, whatever project their rows are of.
    joined = [order.fields[0]] if "__" in order.fields[0] else []
    return Count(rows.order_by(*joined)[: MAX_COUNT + 1].count())


def _prefix(query: QueryDict) -> str:
    return f"{query.urlencode()}&" if query else ""
