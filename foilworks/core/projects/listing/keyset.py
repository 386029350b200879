"""Pages of a sorted query that start after a row, not after a number of rows, so all pages cost the same."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from django.core import signing
from django.db.models import BooleanField, F, Field, Func, Model, Q, QuerySet, Value
from django.db.models.lookups import GreaterThan, LessThan
from django.utils.functional import Promise

ROWS_PER_PAGE = 25
SALT = "foilworks.listing"


@dataclass(frozen=True)
class Order:
    """A way to sort a list.

    `fields`: columns of one index of the table, in the order of the index; none of them is ever null, and the last one
    is unique. `descending` reverses all of them. The first may be a unique column of a row that the table refers to
    (`video__key`): then the others are of an index of the table that starts with this reference.
    `measure`: returns (id, number) of each row; such an order reads a number of all rows, and `fields` is ("pk",).
    Rows without a number come last.
    """

    slug: str
    label: str | Promise
    fields: tuple[str, ...]
    descending: bool = False
    measure: Callable[[QuerySet], Iterable[tuple[int, float | None]]] | None = None


@dataclass(frozen=True)
class Page:
    """The rows of a page in order. `first`: the number of the first row, from 1. Cursors are empty at the ends.

    `folded`: how many rows of the page are shown inside others.
    """

    rows: list[Any] = field(default_factory=list)
    first: int = 1
    previous: str = ""
    next: str = ""
    folded: int = 0

    @property
    def last(self) -> int:
        return self.first + len(self.rows) + self.folded - 1


def page_of(rows: QuerySet, order: Order, cursor: str = "", *, size: int = ROWS_PER_PAGE) -> Page:
    """Return the page at the cursor; the first one if the cursor is empty, altered, or of another order. One query,
    and one more if the order measures.
    """
    start = _opened(cursor, order)
    if order.measure is not None:
        return _measured_page(rows, order, start, size)
    is_back = start is not None and start["back"]
    # Backwards, the rows before the position are read in the opposite order.
    descending = order.descending != is_back
    if start is not None:
        rows = rows.filter(_beyond(rows.model, order.fields, start["values"], descending))
    sign = "-" if descending else ""
    page_rows = list(rows.order_by(*(f"{sign}{name}" for name in order.fields))[: size + 1])
    has_more, page_rows = len(page_rows) > size, page_rows[:size]
    if not page_rows:
        return Page()
    has_previous, has_next = start is not None, has_more
    first = start["first"] if start is not None else 1
    if is_back:
        page_rows.reverse()
        has_previous, has_next = has_more, True
        first = max(1, first - len(page_rows)) if has_more else 1
    previous = cursor_at(order, page_rows[0], first, back=True) if has_previous else ""
    return Page(page_rows, first, previous, cursor_at(order, page_rows[-1], first + len(page_rows)) if has_next else "")


def _measured_page(rows: QuerySet, order: Order, start: dict[str, Any] | None, size: int) -> Page:
    """Return the page of an order that measures; each row has `measured`, its number or None."""
    measure = cast("Callable[[QuerySet], Iterable[tuple[int, float | None]]]", order.measure)
    sign = -1 if order.descending else 1
    numbers = dict(measure(rows))
    ids = sorted(numbers, key=lambda pk: ((number := numbers[pk]) is None, sign * (number or 0), -pk))
    begin = 0
    if start is not None:
        row_id = int(start["values"][0])
        # If the filters no longer show the row, the one after it has its number now.
        at = ids.index(row_id) if row_id in numbers else start["first"] - (1 if start["back"] else 3)
        begin = max(0, at - size) if start["back"] else at + 1
        size = at - begin if start["back"] else size
    page_ids = ids[begin : begin + size]
    rows_by_id = rows.in_bulk(page_ids)
    page_rows = [rows_by_id[pk] for pk in page_ids if pk in rows_by_id]
    for row in page_rows:
        row.measured = numbers[row.pk]
    if not page_rows:
        return Page()
    previous = cursor_at(order, page_rows[0], begin + 1, back=True) if begin else ""
    end = begin + len(page_ids)
    return Page(page_rows, begin + 1, previous, cursor_at(order, page_rows[-1], end + 1) if end < len(ids) else "")


def cursor_at(order: Order, row: Model, first: int, *, back: bool = False) -> str:
    """Return where a page begins: after the row, or before it if `back`. `first`: the number of a row, as in Page."""
    position = {
        "order": order.slug,
        "back": back,
        "first": first,
        "values": [_as_text(row, name) for name in order.fields],
    }
    return signing.dumps(position, salt=SALT, compress=True)


def _opened(cursor: str, order: Order) -> dict[str, Any] | None:
    if not cursor:
        return None
    try:
        position: dict[str, Any] = signing.loads(cursor, salt=SALT)
    except signing.BadSignature:
        return None
    return position if position["order"] == order.slug else None


def _beyond(model: type[Model], names: Sequence[str], values: Sequence[str], descending: bool) -> Q:
    """Rows after the position. As one comparison of rows: databases read such a range off an index."""
    columns = [_column(model, name) for name in names]
    typed = [column.to_python(value) for column, value in zip(columns, values, strict=True)]
    if len(names) == 1:
        return Q(**{f"{names[0]}__{'lt' if descending else 'gt'}": typed[0]})
    row_columns = _row(*(F(name) for name in names))
    position_values = _row(*(Value(value, output_field=column) for value, column in zip(typed, columns, strict=True)))
    beyond = Q(LessThan(row_columns, position_values) if descending else GreaterThan(row_columns, position_values))
    if "__" not in names[0]:
        return beyond
    # No index has columns of two tables: without this range, the other table would be read from its start.
    return Q(**{f"{names[0]}__{'lte' if descending else 'gte'}": typed[0]}) & beyond


def _column(model: type[Model], name: str) -> Field:
    first, _, related_path = name.partition("__")
    column = model._meta.pk if first == "pk" else model._meta.get_field(first)
    return _column(column.related_model, related_path) if related_path else column


def _as_text(row: Model, name: str) -> str:
    """The value of an order's column; rows of joined tables are read with the row."""
    first, _, related_path = name.partition("__")
    return (
        _as_text(getattr(row, first), related_path) if related_path else _column(type(row), name).value_to_string(row)
    )


def _row(*expressions: F | Value) -> Func:
    return Func(*expressions, template="(%(expressions)s)", output_field=BooleanField())
