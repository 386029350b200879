"""Queries and updates of the judgement path whose SQL is compiled once per process, not once per request.

Building and compiling a queryset with five joins costs several times what the database needs to answer it. The
queryset stays the only text of the query: it is compiled for sample values, and later values go where those were. No
signals are sent: the caller records a write in the audit trail.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable, get_related_populators
from django.db.models.sql import UpdateQuery

from foilworks.core.projects.sql.statements import (
    Placeholder,
    Value,
    bind,
    execute,
    inline_constants,
    placeholders_of,
    samples_of,
)

Row = TypeVar("Row")
Changes = Mapping[str, Any]


class Prepared(Generic[Row]):
    """`build(**values)` makes the queryset: of rows of a model (with select_related) or of a values_list of columns.

    `build` is called twice for each database and never again; it must not look at the values.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, Row]"]) -> None:
        self._build = build
        self._compiled: dict[tuple[str, str], _Compiled] = {}

    def all(self, **values: Value) -> list[Row]:
        """Return every row, in the order of the query."""
        return list(self._rows(values))

    def first(self, **values: Value) -> Row | None:
        """Return the first row, or None; a slice in the query should limit it to one."""
        return next(iter(self.all(**values)), None)

    def _rows(self, values: Mapping[str, Value]) -> Iterator[Row]:
        connection = connections[DEFAULT_DB_ALIAS]
        database = (connection.vendor, str(connection.settings_dict["NAME"]))
        compiled = self._compiled.get(database)
        if compiled is None:
            compiled = self._compiled[database] = _compile(self._build, values, connection)
        with execute(compiled.sql, bind(compiled.placeholders, values, connection), connection) as cursor:
            rows = cursor.fetchall()
        return compiled.read(rows, connection)


@dataclass(frozen=True)
class _Compiled:
    sql: str
    placeholders: tuple[Placeholder, ...]
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
            instance = self.model.from_db(connection.alias, self.attributes, values[self.start : self.end])
            for populator in self.populators:
                populator.populate(values, instance)
            for name, at in self.annotations:
                setattr(instance, name, values[at])
            yield instance


def _compile(build: Callable[..., QuerySet], values: Mapping[str, Value], connection: Any) -> _Compiled:
    samples = samples_of(values)
    querysets = [build(**sample) for sample in samples]
    compilers = [queryset.query.get_compiler(connection=connection) for queryset in querysets]
    statements = [compiler.as_sql() for compiler in compilers]
    placeholders = placeholders_of(statements, samples[0], connection)
    sql, placeholders = inline_constants(statements[0][0], placeholders, connection)
    compiler = compilers[0]
    by_column = compiler.get_converters([column[0] for column in compiler.select])
    converters = tuple((at, tuple(convert), expression) for at, (convert, expression) in by_column.items())
    info = compiler.klass_info
    if not issubclass(querysets[0]._iterable_class, ModelIterable):
        return _Compiled(sql, placeholders, converters, None, 0, 0, (), ())
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    attributes = tuple(column[0].target.attname for column in compiler.select[start:end])
    populators = tuple(get_related_populators(info, compiler.select, connection.alias))
    annotations = tuple(compiler.annotation_col_map.items())
    return _Compiled(sql, placeholders, converters, info["model"], start, end, attributes, populators, annotations)


class PreparedUpdate:
    """`build(**values)` returns the rows and the changes of their columns, as `rows.update(**changes)` takes them.

    `build` is called twice for each database and never again; it must not look at the values.
    """

    def __init__(self, build: Callable[..., tuple[QuerySet, Changes]]) -> None:
        self._build = build
        self._compiled: dict[tuple[str, str], tuple[str, tuple[Placeholder, ...]]] = {}

    def __call__(self, **values: Value) -> int:
        """Update the rows; return their number."""
        connection = connections[DEFAULT_DB_ALIAS]
        database = (connection.vendor, str(connection.settings_dict["NAME"]))
        if database not in self._compiled:
            self._compiled[database] = self._compile(values, connection)
        sql, placeholders = self._compiled[database]
        with execute(sql, bind(placeholders, values, connection), connection) as cursor:
            return cursor.rowcount

    def _compile(self, values: Mapping[str, Value], connection: Any) -> tuple[str, tuple[Placeholder, ...]]:
        samples = samples_of(values)
        statements = [_as_sql(*self._build(**sample), connection) for sample in samples]
        placeholders = placeholders_of(statements, samples[0], connection)
        return inline_constants(statements[0][0], placeholders, connection)


def _as_sql(rows: QuerySet, changes: Changes, connection: Any) -> tuple[str, tuple[Any, ...]]:
    query = rows.query.chain(UpdateQuery)
    query.add_update_values(changes)
    # An update has no order.
    query.clear_ordering(force=True)
    compiler = query.get_compiler(connection=connection)
    sql, parameters = compiler.as_sql()
    if query.related_updates:
        raise TypeError("a prepared update changes one table only")
    return sql, tuple(parameters)
