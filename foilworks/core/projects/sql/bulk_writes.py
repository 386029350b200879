"""Many new rows of one model at once, as an import makes them: COPY on PostgreSQL, one prepared statement on SQLite.

Django's bulk_create asks each field of each row, through several calls; an import takes nearly twice as long with it
(decision 118).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import JSONField, Model
from django.utils import timezone

# Values that both drivers store as they are.
PLAIN = frozenset({str, int, float, bool, type(None)})


def insert_many(rows: Sequence[Model], at: datetime | None = None) -> None:
    """Add the rows, all of one model and with keys that the database gives; each learns its key.

    `at`: when they were made, if not now.

    In a transaction, since a half of them is of no use to anybody. IntegrityError as `bulk_create` raises it.
    """
    if not rows:
        return
    connection = connections[DEFAULT_DB_ALIAS]
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("rows are added in bulk within a transaction")
    model = type(rows[0])
    assert not model._meta.parents, model
    assert all(type(row) is model and row.pk is None for row in rows), "rows of one model that have no key yet"
    _stamp(model, rows, at or timezone.now())
    on_postgresql = connection.vendor == "postgresql"
    keys = (_keys_on_postgresql if on_postgresql else _keys_on_sqlite)(connection, model, len(rows))
    for row, key in zip(rows, keys, strict=True):
        row.pk = key
        row._state.adding, row._state.db = False, connection.alias
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    names = [quote(field.column) for field in model._meta.local_concrete_fields]
    with connection.cursor() as cursor:
        if on_postgresql:
            with connection.wrap_database_errors, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
                for values in _values(connection, model, rows):
                    copy.write_row(values)
        else:
            # bandit B608: names of tables and columns alone; values are parameters.
            statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})"  # noqa: S608  # nosec
            cursor.executemany(statement, list(_values(connection, model, rows)))


def analyze_tables(*models: type[Model]) -> None:
    """Have PostgreSQL count the tables now, not at its next look in a minute: it plans for those that it knows."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "postgresql":
        return
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")


def _stamp(model: type[Model], rows: Sequence[Model], now: datetime) -> None:
    """One moment for all rows, in the columns that say when a row was made."""
    for field in model._meta.local_concrete_fields:
        if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False):
            assert field.get_internal_type() == "DateTimeField", field
            for row in rows:
                setattr(row, field.attname, now)


def _keys_on_postgresql(connection: Any, model: type[Model], count: int) -> list[int]:
    table, key = connection.ops.quote_name(model._meta.db_table), model._meta.pk.column
    statement = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
    with connection.cursor() as cursor:
        cursor.execute(statement, [table, key, count])
        return [number for (number,) in cursor.fetchall()]


def _keys_on_sqlite(connection: Any, model: type[Model], count: int) -> range:
    table = [model._meta.db_table]
    with connection.cursor() as cursor:
        # A write first: from here on nobody else gives out keys. The sequence remembers rows that are gone.
        cursor.execute("UPDATE sqlite_sequence SET seq = seq WHERE name = %s", table)
        cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", table)
        last = cursor.fetchone()[0]
    return range(last + 1, last + 1 + count)


def _values(connection: Any, model: type[Model], rows: Sequence[Model]) -> Iterator[tuple[Any, ...]]:
    """The rows as the driver takes them, column by column: rows of an import share their moment and their project."""
    columns = []
    for field in model._meta.local_concrete_fields:
        values = [row.__dict__[field.attname] for row in rows]
        if isinstance(field, JSONField) or not PLAIN.issuperset(map(type, values)):
            known: dict[int, Any] = {}
            for at, value in enumerate(values):
                if id(value) not in known:
                    known[id(value)] = field.get_db_prep_save(value, connection)
                values[at] = known[id(value)]
        columns.append(values)
    return zip(*columns, strict=True)
