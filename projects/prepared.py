"""Queries of a hot path whose SQL is compiled once a process, not once a request.

Building and compiling a queryset with five joins costs several times what the database needs to answer it, and a
judgement asks some twenty of them. The queryset stays the only text of the query: it is compiled for sample values,
and the places of those in its parameters are where later values go. What decides the shape of the SQL (a None, a list,
a slice) must not vary: only text, whole numbers and moments are taken.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable, get_related_populators

Row = TypeVar("Row")
Value = str | int | datetime
# Per-value samples that no query holds by itself; two of each, so that the places where they go are seen.
_WHOLE, _TEXT, _MOMENT = 7_000_000_000_000, "\ue000sample-", datetime(1903, 4, 5, 6, 7, 8, 9, tzinfo=UTC)


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
        with connection.cursor() as cursor:
            cursor.execute(found.sql, found.parameters(values, connection))
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

    def parameters(self, values: Mapping[str, Value], connection: Any) -> list[Any]:
        given = {name: _adapted(value, connection) for name, value in values.items()}
        return [given[name] if name else constant for name, constant in self.places]

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
            yield found


def _compile(build: Callable[..., QuerySet], values: Mapping[str, Value], connection: Any) -> _Compiled:
    samples = [{name: _sample(value, at, turn) for at, (name, value) in enumerate(values.items())} for turn in (0, 1)]
    querysets = [build(**one) for one in samples]
    compilers = [queryset.query.get_compiler(connection=connection) for queryset in querysets]
    (sql, first), (again, second) = (compiler.as_sql() for compiler in compilers)
    assert sql == again, "the shape of a prepared query depends on its values"
    adapted = {_adapted(value, connection): name for name, value in samples[0].items()}
    varying = [one != other for one, other in zip(first, second, strict=True)]
    places = tuple(
        (adapted[one], None) if varies else ("", one) for one, varies in zip(first, varying, strict=True)
    )  # fmt: skip
    missing = set(values) - {name for name, _ in places}
    assert not missing, f"values that the prepared query does not hold: {missing}"
    compiler = compilers[0]
    found = compiler.get_converters([column[0] for column in compiler.select])
    converters = tuple((at, tuple(convert), expression) for at, (convert, expression) in found.items())
    info = compiler.klass_info
    if not issubclass(querysets[0]._iterable_class, ModelIterable):
        return _Compiled(sql, places, converters, None, 0, 0, (), ())
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    attributes = tuple(column[0].target.attname for column in compiler.select[start:end])
    populators = tuple(get_related_populators(info, compiler.select, connection.alias))
    return _Compiled(sql, places, converters, info["model"], start, end, attributes, populators)


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
