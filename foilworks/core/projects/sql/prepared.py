"""Queries and writes of the judgement path whose SQL is compiled once per process, not once per request.

Building and compiling a queryset with five joins costs several times what the database needs to answer it. The
queryset stays the only text of the query, and the model that of a write: it is compiled for sample values, and the
places of those in its parameters are where later values go. What decides the shape of the SQL (a None, a list, a
slice) must not vary: only text, whole numbers and moments are taken. No signals are sent: only the caller records a
write (the audit trail). `QuickRows` builds rows without the general constructor of models.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Generic, Self, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import BooleanField, CharField, Field, ForeignKey, IntegerField, Model, QuerySet, TextField
from django.db.models.base import ModelState
from django.db.models.query import ModelIterable, get_related_populators
from django.db.models.sql import UpdateQuery

Row = TypeVar("Row")
Value = str | int | datetime
Changes = Mapping[str, Any]
# Per-value samples that no query holds by itself; two of each, so that the places where they go are seen.
_WHOLE, _TEXT, _MOMENT = 7_000_000_000_000, "\ue000sample-", datetime(1903, 4, 5, 6, 7, 8, 9, tzinfo=UTC)

_SIGN = re.compile("%s|%%")
# Values of these types are stored as they are in columns of these fields.
_PLAIN = {str: (CharField, TextField), int: (ForeignKey, IntegerField), bool: (BooleanField,)}


class Prepared(Generic[Row]):
    """`build(**values)` makes the queryset: of rows of a model (with select_related) or of a values_list of columns.

    `build` is called twice for each database and never again; it must not look at the values.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, Row]"]) -> None:
        self._build = build
        self._compiled: dict[tuple[str, str], _Compiled] = {}

    def all(self, **values: Value) -> list[Row]:
        """Every row, in the query's order."""
        return list(self._rows(values))

    def first(self, **values: Value) -> Row | None:
        """The first row in the query's order, which a slice in the query should hold to one."""
        return next(iter(self.all(**values)), None)

    def _rows(self, values: Mapping[str, Value]) -> Iterator[Row]:
        connection = connections[DEFAULT_DB_ALIAS]
        place = (connection.vendor, str(connection.settings_dict["NAME"]))
        found = self._compiled.get(place)
        if found is None:
            found = self._compiled[place] = _compile(self._build, values, connection)
        with _executed(found.sql, bind(found.places, values, connection), connection) as cursor:
            rows = cursor.fetchall()
        return found.read(rows, connection)


@dataclass(frozen=True)
class _Compiled:
    sql: str
    # What stands in each place: a constant, or the name of a value.
    places: tuple[tuple[str, Any], ...]
    # (column, its converters, its expression)
    converters: tuple[tuple[int, tuple[Callable[..., Any], ...], Any], ...]
    model: type[Model] | None
    start: int
    end: int
    attributes: tuple[str, ...]
    populators: tuple[Any, ...]
    # (name, column) of what the queryset adds to a row.
    annotations: tuple[tuple[str, int], ...] = ()

    def read(self, rows: Sequence[Sequence[Any]], connection: Any) -> Iterator[Any]:
        for row in rows:
            values = list(row)
            for at, converters, expression in self.converters:
                for convert in converters:
                    values[at] = convert(values[at], expression, connection)
            if self.model is None:
                yield tuple(values) if len(values) > 1 else values[0]
                continue
            found = self.model.from_db(connection.alias, self.attributes, values[self.start : self.end])
            for populator in self.populators:
                populator.populate(values, found)
            for name, at in self.annotations:
                setattr(found, name, values[at])
            yield found


def _compile(build: Callable[..., QuerySet], values: Mapping[str, Value], connection: Any) -> _Compiled:
    samples = samples_of(values)
    querysets = [build(**one) for one in samples]
    compilers = [queryset.query.get_compiler(connection=connection) for queryset in querysets]
    made = [compiler.as_sql() for compiler in compilers]
    sql, places = inline_constants(made[0][0], places_of(made, samples[0], connection), connection)
    compiler = compilers[0]
    found = compiler.get_converters([column[0] for column in compiler.select])
    converters = tuple((at, tuple(convert), expression) for at, (convert, expression) in found.items())
    info = compiler.klass_info
    if not issubclass(querysets[0]._iterable_class, ModelIterable):
        return _Compiled(sql, places, converters, None, 0, 0, (), ())
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    attributes = tuple(column[0].target.attname for column in compiler.select[start:end])
    populators = tuple(get_related_populators(info, compiler.select, connection.alias))
    annotations = tuple(compiler.annotation_col_map.items())
    return _Compiled(sql, places, converters, info["model"], start, end, attributes, populators, annotations)


def samples_of(values: Mapping[str, Value]) -> list[dict[str, Value]]:
    """Two of each value, that no query holds by itself."""
    return [{name: _sample(value, at, turn) for at, (name, value) in enumerate(values.items())} for turn in (0, 1)]


def places_of(
    made: Sequence[tuple[str, Sequence[Any]]], samples: Mapping[str, Value], connection: Any
) -> tuple[tuple[str, Any], ...]:
    """What is in each place of the SQL that was made of two sets of samples, `samples` being the first."""
    (sql, first), (again, second) = made
    assert sql == again, "the shape of a prepared query depends on its values"
    adapted = {_adapted(value, connection): name for name, value in samples.items()}
    varying = [one != other for one, other in zip(first, second, strict=True)]
    places = tuple((adapted[one], None) if varies else ("", one) for one, varies in zip(first, varying, strict=True))
    missing = set(samples) - {name for name, _ in places}
    assert not missing, f"values that the prepared query does not hold: {missing}"
    return places


def server_binding_cursor(connection: Any) -> Any:
    """A cursor whose statements the server parses and plans once a connection; None: the usual cursor is needed.

    Its values are numbered: `$1`. Reading the places of a long statement takes longer than to send it. Not for all
    statements: Django makes some that PostgreSQL cannot find the types of. SQLite keeps statements by itself.
    """
    options = connection.settings_dict["OPTIONS"]
    # What is logged is the query with its values in it.
    if connection.vendor != "postgresql" or options.get("prepare_threshold") is None or connection.queries_logged:
        return None
    # Only where PostgreSQL is used: its driver takes a while to import.
    from psycopg import RawCursor

    # A transaction that has begun has found its connection in order.
    if connection.connection is None or not connection.in_atomic_block:
        connection.close_if_health_check_failed()
        connection.ensure_connection()
    return connection._prepare_cursor(RawCursor(connection.connection))


def inline_constants(
    sql: str, places: Sequence[tuple[str, Any]], connection: Any
) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """The SQL with its constants in it, and the places that are left.

    A plan that is kept can use an index with a condition only where the text of the query says that it holds.
    """
    if connection.vendor != "postgresql":
        return sql, tuple(places)
    from psycopg.sql import Literal

    connection.ensure_connection()
    pieces = sql.split("%s")
    text = [pieces[0]]
    for (name, constant), piece in zip(places, pieces[1:], strict=True):
        text.append("%s" if name else Literal(constant).as_string(connection.connection).replace("%", "%%"))
        text.append(piece)
    return "".join(text), tuple(place for place in places if place[0])


def bind(places: Sequence[tuple[str, Any]], values: Mapping[str, Value], connection: Any) -> list[Any]:
    """The parameters of the values."""
    given = {name: _adapted(value, connection) for name, value in values.items()}
    return [given[name] if name else constant for name, constant in places]


def _sample(value: Value, at: int, turn: int) -> Value:
    if isinstance(value, datetime):
        return _MOMENT + timedelta(days=2 * at + turn)
    if isinstance(value, str):
        return f"{_TEXT}{2 * at + turn}"
    if isinstance(value, int) and not isinstance(value, bool):
        return _WHOLE + 2 * at + turn
    raise TypeError(f"a prepared query takes text, whole numbers and moments, not {value!r}")


def _adapted(value: Value, connection: Any) -> Any:
    """As the database's driver takes it."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, str):
        # Members of an enumeration too.
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError(f"a prepared query takes text, whole numbers and moments, not {value!r}")


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
    given = [value for row in rows for value in _stored(row, fields, connection)]
    with _executed(sql, given, connection) as cursor:
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
    given = [*_stored(old, fields, connection, add=False), *_stored(new, fields, connection)]
    with _executed(sql, given, connection) as cursor:
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


def _executed(sql: str, given: Sequence[Any], connection: Any) -> Any:
    """Execute the statement, and return its cursor."""
    cursor = server_binding_cursor(connection)
    if cursor is None:
        cursor = connection.cursor()
    else:
        sql = _numbered(sql)
    try:
        cursor.execute(sql, given)
    except BaseException:
        cursor.close()
        raise
    return cursor


@lru_cache(maxsize=1024)
def _numbered(sql: str) -> str:
    """The text with a number in each place, and signs of percent as PostgreSQL reads them.

    A number for each place, also for a value that comes again: PostgreSQL would conclude that columns are equal, and
    join rows by them that it should look up for each slot.
    """
    numbers = itertools.count(1)
    return _SIGN.sub(lambda sign: "%" if sign[0] == "%%" else f"${next(numbers)}", sql)


@lru_cache(maxsize=8)
def _upsert_sql(
    model: type[Model], known_by: str, changed: tuple[str, ...], vendor: str
) -> tuple[str, tuple[Field, ...]]:
    sql, fields = _insert_sql(model, 2, ignore_conflicts=False, vendor=vendor)
    quoted = connections[DEFAULT_DB_ALIAS].ops.quote_name
    meta = model._meta
    columns = [quoted(meta.get_field(name).column) for name in changed]
    sets = ", ".join(f"{column} = EXCLUDED.{column}" for column in columns)
    conflict = f"ON CONFLICT ({quoted(meta.get_field(known_by).column)}) DO UPDATE SET {sets}"  # nosec
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
        with _executed(sql, bind(places, values, connection), connection) as cursor:
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


class QuickRows(Model):
    """A model whose rows are built from the database by setting their fields at once.

    `Model.__init__` also serves rows that are made by hand: it looks for defaults, deferred fields and keywords of each
    field, and sends signals. No model of ours needs that of a row that exists, and a judgement reads twenty of them.
    """

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any]) -> Self:
        """Return the row; fields that the query left out stay deferred."""
        row = cls.__new__(cls)
        row._state = ModelState()
        row._state.adding, row._state.db = False, db
        row.__dict__.update(zip(field_names, values, strict=True))
        return row
