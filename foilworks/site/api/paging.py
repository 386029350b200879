"""Return lists in pages: a cursor says after which row the next page begins, so no row is skipped or repeated.

A cursor is signed: it contains the value of the ordered column and the row's id, and only we can create one.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Field, Schema

from foilworks.site.api.answers import RefusedFields

SALT = "foilworks.api.cursor"
# Without a time: the cursor, and so the ETag of its page, stays while no row changes. Cursors of 0.3.0 have one.
_SIGNER, _SIGNER_OF_0_3 = signing.Signer(salt=SALT), signing.TimestampSigner(salt=SALT)
T = TypeVar("T")
Row = TypeVar("Row", bound=Model)


class Listed(Schema):
    """The parameters of every list; subclasses add their filters and orders. Others are rejected."""

    limit: int = Field(50, ge=1, le=500)
    cursor: str = Field("", max_length=500, description="`next` of the previous page")


class Page(Schema, Generic[T]):
    items: list[T]
    next: str | None = Field(None, description="cursor of the next page; null on the last one")


def only_known(request: HttpRequest, query: Schema | None) -> None:
    """Reject an unknown parameter with RefusedFields: a misspelled filter must not look like an empty result."""
    known = () if query is None else type(query).model_fields
    unknown = [name for name in request.GET if name not in known]
    if unknown:
        raise RefusedFields({unknown[0][:80]: _("is not a filter of this list")})


def page_of(
    request: HttpRequest, rows: QuerySet[Row], query: Listed, row_out: Callable[[Row], T], *, order: str = "id"
) -> dict[str, Any]:
    """Return a page of the rows, each passed through `row_out`.

    `order`: a column that is never null; `-` reverses it.
    """
    only_known(request, query)
    column, down = order.removeprefix("-"), order.startswith("-")
    if query.cursor:
        rows = rows.filter(_rows_after(query.cursor, order, column, down, rows.model))
    sign = "-" if down else ""
    page_rows = list(rows.order_by(f"{sign}{column}", f"{sign}pk")[: query.limit + 1])
    more = len(page_rows) > query.limit
    last = page_rows[query.limit - 1] if more else None
    following = _SIGNER.sign_object([order, _plain(getattr(last, column)), last.pk]) if last else None
    return {"items": [row_out(row) for row in page_rows[: query.limit]], "next": following}


def slice_of(request: HttpRequest, rows: Sequence[Any], query: Listed, row_out: Callable[[Any], T]) -> dict[str, Any]:
    """Return a page of rows that are already in memory, in their order."""
    only_known(request, query)
    start = _parse_cursor(query.cursor, "place")[1] if query.cursor else 0
    end = start + query.limit
    following = _SIGNER.sign_object(["place", end]) if end < len(rows) else None
    return {"items": [row_out(row) for row in rows[start:end]], "next": following}


def _rows_after(cursor: str, order: str, column: str, down: bool, model: type[Model]) -> Q:
    _order, value, pk = _parse_cursor(cursor, order)
    comparison = "lt" if down else "gt"
    if column in ("id", "pk"):
        return Q(**{f"pk__{comparison}": pk})
    value = model._meta.get_field(column).to_python(value)
    return Q(**{f"{column}__{comparison}": value}) | Q(**{column: value, f"pk__{comparison}": pk})


def _parse_cursor(cursor: str, order: str) -> Mapping[int, Any]:
    try:
        signer = _SIGNER_OF_0_3 if cursor.count(":") > 1 else _SIGNER
        position = signer.unsign_object(cursor)
    except signing.BadSignature:
        position = [None]
    if position[0] != order:
        raise RefusedFields({"cursor": _("is not a cursor of this list in this order; start without a cursor")})
    return position


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
