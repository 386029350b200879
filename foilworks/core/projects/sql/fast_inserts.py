"""Insert rows of the judgement path in one statement that is compiled once per process. No signals are sent."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import BooleanField, CharField, Field, ForeignKey, IntegerField, Model, TextField

from foilworks.core.projects.sql.statements import execute

# Values of these types are stored as they are in columns of these fields.
_PLAIN = {str: (CharField, TextField), int: (ForeignKey, IntegerField), bool: (BooleanField,)}


def insert(*rows: Model, ignore_conflicts: bool = False) -> None:
    """Insert rows of one model without primary keys in one statement; each gets the key that the database assigns.

    `ignore_conflicts`: a row that a unique constraint forbids is left out, and no row gets its key. IntegrityError
    otherwise, as `save` and `bulk_create` raise it. TypeError: rows of several models, or with keys.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    model = type(rows[0])
    if not all(type(row) is model and row.pk is None for row in rows):
        raise TypeError("all rows must be of one model and have no primary key yet")
    if not connection.features.can_return_columns_from_insert:
        return _insert_without_keys(rows, ignore_conflicts=ignore_conflicts)
    sql, fields = _insert_sql(model, len(rows), ignore_conflicts, connection.vendor)
    parameters = [value for row in rows for value in _stored(row, fields, connection)]
    with execute(sql, parameters, connection) as cursor:
        keys = () if ignore_conflicts else cursor.fetchall()
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias
    for row, (key,) in zip(rows, keys, strict=not ignore_conflicts):
        row.pk = key
    return None


def insert_or_update(old: Model, new: Model, *, known_by: str, changed: Sequence[str]) -> None:
    """Update columns of a row, and insert another row of its model, in one statement; the new row gets its key.

    `known_by`: a column with a unique constraint, by which the database finds the old row. TypeError: rows of two
    models, an old row without a key or a new one with a key.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    model = type(new)
    if type(old) is not model or old.pk is None or new.pk is not None:
        raise TypeError("the old row must have a primary key, and the new one of the same model none")
    if not connection.features.can_return_columns_from_insert:
        old.save(update_fields=changed)
        return new.save(force_insert=True)
    sql, fields = _upsert_sql(model, known_by, tuple(changed), connection.vendor)
    parameters = [*_stored(old, fields, connection, add=False), *_stored(new, fields, connection)]
    with execute(sql, parameters, connection) as cursor:
        keys = {key for (key,) in cursor.fetchall()}
    (new.pk,) = keys - {old.pk}
    new._state.adding, new._state.db = False, connection.alias
    return None


def _stored(row: Model, fields: Sequence[Field], connection: Any, *, add: bool = True) -> Iterator[Any]:
    """Yield the row's values as the database's driver takes them; most need no preparation."""
    for field in fields:
        value = field.pre_save(row, add) if add else getattr(row, field.attname)
        plain = value is None or isinstance(field, _PLAIN.get(type(value), ()))
        yield value if plain else field.get_db_prep_save(value, connection)


@lru_cache(maxsize=8)
def _upsert_sql(
    model: type[Model], known_by: str, changed: tuple[str, ...], vendor: str
) -> tuple[str, tuple[Field, ...]]:
    text, fields = _insert_text(model, 2)
    quoted = connections[DEFAULT_DB_ALIAS].ops.quote_name
    meta = model._meta
    columns = [quoted(meta.get_field(name).column) for name in changed]
    sets = ", ".join(f"{column} = EXCLUDED.{column}" for column in columns)
    conflict = f"ON CONFLICT ({quoted(meta.get_field(known_by).column)}) DO UPDATE SET {sets}"  # nosec
    return f"{text} {conflict} {_returning(model)}", fields


def _insert_without_keys(rows: Sequence[Model], *, ignore_conflicts: bool) -> None:
    """Insert on a database that does not return the keys that it assigns (SQLite before 3.35)."""
    if ignore_conflicts:
        type(rows[0])._default_manager.bulk_create(rows, ignore_conflicts=True)
        return
    for row in rows:
        row.save(force_insert=True)


@lru_cache(maxsize=256)
def _insert_sql(model: type[Model], count: int, ignore_conflicts: bool, vendor: str) -> tuple[str, tuple[Field, ...]]:
    text, fields = _insert_text(model, count)
    return f"{text} {'ON CONFLICT DO NOTHING' if ignore_conflicts else _returning(model)}", fields


def _insert_text(model: type[Model], count: int) -> tuple[str, tuple[Field, ...]]:
    meta, quoted = model._meta, connections[DEFAULT_DB_ALIAS].ops.quote_name
    fields = tuple(field for field in meta.local_concrete_fields if not field.primary_key)
    if meta.parents or any(hasattr(field, "get_placeholder") for field in fields):
        raise TypeError(f"{model.__name__} has parents or fields with SQL of their own; use bulk_create")
    row = f"({', '.join(['%s'] * len(fields))})"
    columns, values = ", ".join(quoted(field.column) for field in fields), ", ".join([row] * count)
    # bandit B608: names of tables and columns alone; values are parameters.
    return f"INSERT INTO {quoted(meta.db_table)} ({columns}) VALUES {values}", fields  # noqa: S608  # nosec


def _returning(model: type[Model]) -> str:
    return f"RETURNING {connections[DEFAULT_DB_ALIAS].ops.quote_name(model._meta.pk.column)}"
