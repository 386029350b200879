"""Many new rows of one model at once, as an import makes them: COPY on PostgreSQL, one prepared statement on SQLite.

Django's constructors and its bulk_create ask each field of each row, through several calls; for the rows of an import
that costs several times what the database needs to store them. The model stays the only text of what is written.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Field, ForeignKey, Model
from django.db.models.base import ModelState
from django.db.models.fields import NOT_PROVIDED
from django.utils import timezone

# Rows of which one statement is sent.
BLOCK = 500
# As COPY reads a line of text; all strings go through it, and numbers never need it.
_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_TO_ESCAPE = re.compile(r"[\\\t\n\r]")
_WHOLE = {
    "AutoField",
    "BigAutoField",
    "IntegerField",
    "BigIntegerField",
    "SmallIntegerField",
    "PositiveIntegerField",
    "PositiveSmallIntegerField",
    "PositiveBigIntegerField",
}
_TEXTS = {"CharField", "TextField", "SlugField", "FileField", "URLField"}

# The values of a column, none of them None, as the database takes them.
Convert = Callable[[list[Any]], list[Any]]
Row = TypeVar("Row", bound=Model)


def new_row(model: type[Row], **values: Any) -> Row:
    """An unsaved row as the model's constructor makes it, without asking each field: a tenth of its time.

    Columns go by the names of their attributes (`video_id=`, not `video=`); the others get the model's defaults.
    Nobody is told of it (signals).
    """
    names, plain, made = _defaults(model)
    assert values.keys() <= names, f"{model}: columns go by the names of their attributes"
    row = model.__new__(model)
    content = row.__dict__
    content.update(plain)
    for name, make in made:
        if name not in values:
            content[name] = make()
    content.update(values)
    row._state = ModelState()
    return row


@lru_cache(maxsize=128)
def _defaults(
    model: type[Model],
) -> tuple[frozenset[str], dict[str, Any], tuple[tuple[str, Callable[[], Any]], ...]]:
    """(attributes, attribute -> value, (attribute, what makes its value)): what a row has that nothing was said of."""
    plain, made = {}, []
    for field in model._meta.local_concrete_fields:
        assert field.db_default is NOT_PROVIDED, field
        if callable(field.default) and field.default is not NOT_PROVIDED:
            made.append((field.attname, field.default))
        else:
            plain[field.attname] = field.get_default()
    return frozenset([*plain, *dict(made)]), plain, tuple(made)


def insert_many(rows: Sequence[Model]) -> None:
    """Add the rows, all of one model and with keys that the database gives; each learns its key.

    In a transaction, since a half of them is of no use to anybody. IntegrityError as `bulk_create` raises it.
    """
    if not rows:
        return
    connection = connections[DEFAULT_DB_ALIAS]
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("rows are added in bulk within a transaction")
    model = type(rows[0])
    assert all(type(row) is model and row.pk is None for row in rows), "rows of one model that have no key yet"
    _stamp(model, rows)
    stored = _on_postgresql if connection.vendor == "postgresql" else _on_sqlite
    keys = stored(connection, model, rows)
    for row, key in zip(rows, keys, strict=True):
        row.pk = key
        row._state.adding, row._state.db = False, connection.alias


def tell_planner(*models: type[Model]) -> None:
    """Have PostgreSQL count the tables now, not at its next look in a minute: it plans for those that it knows."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "postgresql":
        return
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")


def _stamp(model: type[Model], rows: Sequence[Model]) -> None:
    """One moment for all rows, in the columns that say when a row was made."""
    now = timezone.now()
    for field in model._meta.local_concrete_fields:
        if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False):
            assert field.get_internal_type() == "DateTimeField", field
            for row in rows:
                setattr(row, field.attname, now)


def _on_postgresql(connection: Any, model: type[Model], rows: Sequence[Model]) -> list[int]:
    import psycopg

    table, key = model._meta.db_table, model._meta.pk
    assert key is not None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [connection.ops.quote_name(table), key.column, len(rows)],
        )
        keys = [number for (number,) in cursor.fetchall()]
    columns = _columns(model, connection.vendor)
    names = ", ".join(connection.ops.quote_name(name) for name in (key.column, *(column for column, *_ in columns)))
    # Names of tables and columns alone; values go as data.
    statement = f"COPY {connection.ops.quote_name(table)} ({names}) FROM STDIN"
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection).copy(statement) as copy:
        for lines in _blocks(keys, rows, columns, nothing="\\N", of_key=str):
            copy.write("".join(["\t".join(values) + "\n" for values in lines]))
    return keys


def _blocks(
    keys: list[int], rows: Sequence[Model], columns: Sequence[tuple[str, str, Convert]], *, nothing: Any, of_key: Any
) -> Iterator[Iterator[tuple[Any, ...]]]:
    """The rows as the database takes them, some at a time; column by column, since what they hold is alike."""
    for start in range(0, len(rows), BLOCK):
        some = [row.__dict__ for row in rows[start : start + BLOCK]]
        given = [_column([row[name] for row in some], convert, nothing) for _column_name, name, convert in columns]
        yield zip(map(of_key, keys[start : start + BLOCK]), *given, strict=True)


def _column(values: list[Any], convert: Convert, nothing: Any) -> list[Any]:
    there = [value for value in values if value is not None]
    if len(there) == len(values):
        return convert(values)
    converted = iter(convert(there)) if there else iter(())
    return [nothing if value is None else next(converted) for value in values]


def _on_sqlite(connection: Any, model: type[Model], rows: Sequence[Model]) -> list[int]:
    table, key = model._meta.db_table, model._meta.pk
    assert key is not None
    columns = _columns(model, connection.vendor)
    names = ", ".join(connection.ops.quote_name(name) for name in (key.column, *(column for column, *_ in columns)))
    places = ", ".join(["%s"] * (1 + len(columns)))
    quoted = connection.ops.quote_name(table)
    with connection.cursor() as cursor:
        # A write first: from here on nobody else gives out keys. The sequence remembers rows that are gone.
        cursor.execute("UPDATE sqlite_sequence SET seq = seq WHERE name = %s", [table])
        cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()[0]
        keys = list(range(last + 1, last + 1 + len(rows)))
        # Names of tables and columns alone; values are parameters.
        statement = f"INSERT INTO {quoted} ({names}) VALUES ({places})"  # noqa: S608
        for given in _blocks(keys, rows, columns, nothing=None, of_key=int):
            cursor.executemany(statement, list(given))
    return keys


@lru_cache(maxsize=128)
def _columns(model: type[Model], vendor: str) -> tuple[tuple[str, str, Convert], ...]:
    """(column, attribute, how the database takes it) of all columns but the key."""
    meta = model._meta
    assert not meta.parents, model
    fields = [field for field in meta.local_concrete_fields if not field.primary_key]
    converts = _as_text if vendor == "postgresql" else _as_value
    return tuple((field.column, field.attname, converts(field)) for field in fields)


def _kind(field: Field) -> str:
    while isinstance(field, ForeignKey):
        field = field.target_field
    return field.get_internal_type()


def _as_text(field: Field) -> Convert:
    """The values as COPY reads them."""
    kind = _kind(field)
    if kind in _WHOLE:
        return _alike(lambda value: str(int(value)))
    if kind in _TEXTS:
        return _escaped
    if kind == "BooleanField":
        return lambda values: ["t" if value else "f" for value in values]
    if kind == "FloatField":
        return lambda values: [repr(float(value)) for value in values]
    if kind == "DateTimeField":
        return _alike(lambda value: value.isoformat())
    if kind == "JSONField":
        encode = _encoder(field)
        return lambda values: _escaped(encode(values))
    raise TypeError(f"{field}: {kind} cannot be written in bulk yet")


def _as_value(field: Field) -> Convert:
    """The values as the driver of SQLite takes them."""
    kind = _kind(field)
    if kind in _WHOLE:
        return lambda values: [int(value) for value in values]
    if kind in _TEXTS:
        return lambda values: [str(value) for value in values]
    if kind == "BooleanField":
        return lambda values: [bool(value) for value in values]
    if kind == "FloatField":
        return lambda values: [float(value) for value in values]
    if kind == "DateTimeField":
        return _alike(connections[DEFAULT_DB_ALIAS].ops.adapt_datetimefield_value)
    if kind == "JSONField":
        return _encoder(field)
    raise TypeError(f"{field}: {kind} cannot be written in bulk yet")


def _alike(convert: Callable[[Any], Any]) -> Convert:
    """Rows of an import share their project and their moment: what is said of one is said of all."""

    def column(values: list[Any]) -> list[Any]:
        if values.count(values[0]) == len(values):
            return [convert(values[0])] * len(values)
        return [convert(value) for value in values]

    return column


def _escaped(values: list[Any]) -> list[str]:
    texts = [value if type(value) is str else str(value) for value in values]
    if _TO_ESCAPE.search("\0".join(texts)) is None:
        return texts
    return [text.translate(_ESCAPED) for text in texts]


def _encoder(field: Field) -> Convert:
    encode = (field.encoder or json.JSONEncoder)().encode
    return lambda values: ["{}" if type(value) is dict and not value else encode(value) for value in values]
