"""Many new rows of one model at once, as an import makes them: COPY on PostgreSQL, one prepared statement on SQLite.

Django's bulk_create asks each field of each row what the driver takes, through five calls; for the rows of an import
that costs several times what the database needs to store them. The model stays the only text of what is written.
"""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Field, ForeignKey, Model
from django.utils import timezone

# Rows of which one statement is sent.
BLOCK = 500
# As COPY reads a line of text; all strings go through it, and numbers never need it.
_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_WHOLE = {"AutoField", "BigAutoField", "IntegerField", "BigIntegerField", "SmallIntegerField", "PositiveIntegerField",
          "PositiveSmallIntegerField", "PositiveBigIntegerField"}  # fmt: skip
_TEXTS = {"CharField", "TextField", "SlugField", "FileField", "URLField"}

Convert = Callable[[Any], Any]


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
        for start in range(0, len(rows), BLOCK):
            some = zip(keys[start : start + BLOCK], rows[start : start + BLOCK], strict=True)
            copy.write("".join(_line(key, row, columns) for key, row in some))
    return keys


def _line(key: int, row: Model, columns: Sequence[tuple[str, str, Convert]]) -> str:
    values = [str(key)]
    for _column, name, convert in columns:
        value = getattr(row, name)
        values.append("\\N" if value is None else convert(value))
    return "\t".join(values) + "\n"


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
        given = [
            (key, *(None if (value := getattr(row, name)) is None else convert(value) for _, name, convert in columns))
            for key, row in zip(keys, rows, strict=True)
        ]
        # Names of tables and columns alone; values are parameters.
        cursor.executemany(f"INSERT INTO {quoted} ({names}) VALUES ({places})", given)  # noqa: S608
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
    """The value as COPY reads it."""
    kind = _kind(field)
    if kind in _WHOLE:
        return lambda value: str(int(value))
    if kind in _TEXTS:
        return lambda value: str(value).translate(_ESCAPED)
    if kind == "BooleanField":
        return lambda value: "t" if value else "f"
    if kind == "FloatField":
        return lambda value: repr(float(value))
    if kind == "DateTimeField":
        return lambda value: value.isoformat()
    if kind == "JSONField":
        encoder = field.encoder
        return lambda value: json.dumps(value, cls=encoder).translate(_ESCAPED)
    raise TypeError(f"{field}: {kind} cannot be written in bulk yet")


def _as_value(field: Field) -> Convert:
    """The value as the driver of SQLite takes it."""
    kind = _kind(field)
    if kind in _WHOLE:
        return int
    if kind in _TEXTS:
        return str
    if kind == "BooleanField":
        return bool
    if kind == "FloatField":
        return float
    if kind == "DateTimeField":
        return connections[DEFAULT_DB_ALIAS].ops.adapt_datetimefield_value
    if kind == "JSONField":
        return partial(json.dumps, cls=field.encoder)
    raise TypeError(f"{field}: {kind} cannot be written in bulk yet")
