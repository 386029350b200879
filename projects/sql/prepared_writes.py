"""Writes of a hot path whose SQL is made once per process: rows that are added, and updates by compare-and-swap.

As in projects.sql.prepared_queries, the model and the queryset stay the only text of what is written; the SQL that
Django compiles from them is cached. No signals are sent: only the caller records a write (the audit trail).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Field, Model, QuerySet
from django.db.models.sql import UpdateQuery

from projects.sql.prepared_queries import Value, bind, inline_constants, places_of, samples_of, server_binding_cursor

Changes = Mapping[str, Any]


def insert(*rows: Model, ignore_conflicts: bool = False) -> None:
    """Add the rows, all of one model and with keys that the database gives, in one statement; each learns its key.

    `ignore_conflicts`: a row that a unique constraint forbids is left out, and no row learns its key. IntegrityError
    otherwise, as `save` and `bulk_create` raise it.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    model = type(rows[0])
    assert all(type(row) is model and row.pk is None for row in rows), "rows of one model that have no key yet"
    if not connection.features.can_return_columns_from_insert:
        return _insert_without_keys(rows, ignore_conflicts=ignore_conflicts)
    sql, fields = _insert_sql(model, len(rows), ignore_conflicts, connection.vendor)
    given = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for row in rows for field in fields]
    with server_binding_cursor(connection) as cursor:
        cursor.execute(sql, given)
        keys = () if ignore_conflicts else cursor.fetchall()
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias
    for row, (key,) in zip(rows, keys, strict=not ignore_conflicts):
        row.pk = key
    return None


def insert_or_update(old: Model, new: Model, *, known_by: str, changed: Sequence[str]) -> None:
    """Store columns of a row, and add another row of its model, in one statement; the new row learns its key.

    `known_by`: a column with a unique constraint, by which the database finds the old row.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    model = type(new)
    assert type(old) is model, "rows of one model"
    assert old.pk is not None
    assert new.pk is None
    if not connection.features.can_return_columns_from_insert:
        old.save(update_fields=changed)
        return new.save(force_insert=True)
    sql, fields = _upsert_sql(model, known_by, tuple(changed), connection.vendor)
    given = [field.get_db_prep_save(getattr(row, field.attname), connection) for row in (old, new) for field in fields]
    with server_binding_cursor(connection) as cursor:
        cursor.execute(sql, given)
        keys = {key for (key,) in cursor.fetchall()}
    (new.pk,) = keys - {old.pk}
    new._state.adding, new._state.db = False, connection.alias
    return None


@lru_cache(maxsize=8)
def _upsert_sql(
    model: type[Model], known_by: str, changed: tuple[str, ...], vendor: str
) -> tuple[str, tuple[Field, ...]]:
    sql, fields = _insert_sql(model, 2, ignore_conflicts=False, vendor=vendor)
    quoted = connections[DEFAULT_DB_ALIAS].ops.quote_name
    meta = model._meta
    columns = [quoted(meta.get_field(name).column) for name in changed]
    sets = ", ".join(f"{column} = EXCLUDED.{column}" for column in columns)
    conflict = f"ON CONFLICT ({quoted(meta.get_field(known_by).column)}) DO UPDATE SET {sets}"
    return sql.replace("RETURNING", f"{conflict} RETURNING"), fields


def _insert_without_keys(rows: Sequence[Model], *, ignore_conflicts: bool) -> None:
    """On a database that does not tell the keys that it gave (SQLite before 3.35)."""
    if ignore_conflicts:
        type(rows[0])._default_manager.bulk_create(rows, ignore_conflicts=True)
        return
    for row in rows:
        row.save(force_insert=True)


@lru_cache(maxsize=256)
def _insert_sql(model: type[Model], count: int, ignore_conflicts: bool, vendor: str) -> tuple[str, tuple[Field, ...]]:
    connection = connections[DEFAULT_DB_ALIAS]
    meta, quoted = model._meta, connection.ops.quote_name
    fields = tuple(field for field in meta.local_concrete_fields if not field.primary_key)
    assert not meta.parents, model
    assert not any(hasattr(one, "get_placeholder") for one in fields), model
    row = f"({', '.join(['%s'] * len(fields))})"
    columns, values = ", ".join(quoted(field.column) for field in fields), ", ".join([row] * count)
    assert meta.pk is not None
    end = "ON CONFLICT DO NOTHING" if ignore_conflicts else f"RETURNING {quoted(meta.pk.column)}"
    # bandit B608: names of tables and columns alone; values are parameters.
    return f"INSERT INTO {quoted(meta.db_table)} ({columns}) VALUES {values} {end}", fields  # noqa: S608  # nosec


class PreparedUpdate:
    """`build(**values)` gives the rows and the changes of their columns, as `rows.update(**changes)` takes them.

    `build` is called twice for each database and never again; it must not look at the values.
    """

    def __init__(self, build: Callable[..., tuple[QuerySet, Changes]]) -> None:
        self._build = build
        self._compiled: dict[tuple[str, str], tuple[str, tuple[tuple[str, Any], ...]]] = {}

    def __call__(self, **values: Value) -> int:
        """How many rows were changed."""
        connection = connections[DEFAULT_DB_ALIAS]
        place = (connection.vendor, str(connection.settings_dict["NAME"]))
        found = self._compiled.get(place)
        if found is None:
            found = self._compiled[place] = self._compile(values, connection)
        sql, places = found
        with server_binding_cursor(connection) as cursor:
            cursor.execute(sql, bind(places, values, connection))
            return cursor.rowcount

    def _compile(self, values: Mapping[str, Value], connection: Any) -> tuple[str, tuple[tuple[str, Any], ...]]:
        samples = samples_of(values)
        made = [_as_sql(*self._build(**one), connection) for one in samples]
        return inline_constants(made[0][0], places_of(made, samples[0], connection), connection)


def _as_sql(rows: QuerySet, changes: Changes, connection: Any) -> tuple[str, tuple[Any, ...]]:
    query = rows.query.chain(UpdateQuery)
    query.add_update_values(changes)
    # An order means nothing to an update.
    query.clear_ordering(force=True)
    compiler = query.get_compiler(connection=connection)
    sql, parameters = compiler.as_sql()
    assert not query.related_updates, "an update of one table"
    return sql, tuple(parameters)
