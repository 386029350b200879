"""Statements of the judgement path whose SQL is compiled once per process: their placeholders, values and cursor.

What decides the shape of the SQL (a None, a list, a slice) must not vary: only text, integers and datetimes are taken.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

Value = str | int | datetime
# The name of a value, or "" and a constant.
Placeholder = tuple[str, Any]
# Per-value samples that no query holds by itself; two of each, to see where they go.
_SAMPLE_INT, _SAMPLE_TEXT = 7_000_000_000_000, "\ue000sample-"
_SAMPLE_TIME = datetime(1903, 4, 5, 6, 7, 8, 9, tzinfo=UTC)
_PLACEHOLDER = re.compile("%s|%%")


def samples_of(values: Mapping[str, Value]) -> list[dict[str, Value]]:
    """Return two sets of values that no query holds by itself."""
    return [{name: _sample(value, at, turn) for at, (name, value) in enumerate(values.items())} for turn in (0, 1)]


def placeholders_of(
    compiled: Sequence[tuple[str, Sequence[Any]]], samples: Mapping[str, Value], connection: Any
) -> tuple[Placeholder, ...]:
    """Return the placeholders of the SQL that was compiled for two sets of samples, `samples` being the first.

    ValueError: the SQL depends on the values, or does not hold one of them.
    """
    (sql, first), (second_sql, second) = compiled
    if sql != second_sql:
        raise ValueError("the SQL of a prepared query must not depend on its values")
    adapted = {_adapted(value, connection): name for name, value in samples.items()}
    placeholders = tuple(
        (adapted[value], None) if value != other else ("", value) for value, other in zip(first, second, strict=True)
    )
    missing = set(samples) - {name for name, _ in placeholders}
    if missing:
        raise ValueError(f"the prepared query does not hold these values: {', '.join(sorted(missing))}")
    return placeholders


def server_binding_cursor(connection: Any) -> Any:
    """Return a cursor whose statements the server parses and plans once per connection; None: use the usual cursor.

    Its placeholders are numbered: `$1`. Otherwise the driver reads the whole statement each time, which takes longer
    than to send it. Not for all statements: PostgreSQL cannot find the types in some that Django writes. SQLite caches
    statements by itself.
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
    sql: str, placeholders: Sequence[Placeholder], connection: Any
) -> tuple[str, tuple[Placeholder, ...]]:
    """Return the SQL with its constants inlined, and the remaining placeholders.

    A stored plan can use a partial index only where the text of the query implies its condition.
    """
    if connection.vendor != "postgresql":
        return sql, tuple(placeholders)
    from psycopg.sql import Literal

    connection.ensure_connection()
    pieces = sql.split("%s")
    text = [pieces[0]]
    for (name, constant), piece in zip(placeholders, pieces[1:], strict=True):
        text.append("%s" if name else Literal(constant).as_string(connection.connection).replace("%", "%%"))
        text.append(piece)
    return "".join(text), tuple(row for row in placeholders if row[0])


def bind(placeholders: Sequence[Placeholder], values: Mapping[str, Value], connection: Any) -> list[Any]:
    """Return the parameters of the statement."""
    adapted = {name: _adapted(value, connection) for name, value in values.items()}
    return [adapted[name] if name else constant for name, constant in placeholders]


def _sample(value: Value, at: int, turn: int) -> Value:
    if isinstance(value, datetime):
        return _SAMPLE_TIME + timedelta(days=2 * at + turn)
    if isinstance(value, str):
        return f"{_SAMPLE_TEXT}{2 * at + turn}"
    if isinstance(value, int) and not isinstance(value, bool):
        return _SAMPLE_INT + 2 * at + turn
    raise TypeError(f"a prepared query takes text, integers and datetimes, not {value!r}")


def _adapted(value: Value, connection: Any) -> Any:
    """Return the value as the database's driver takes it."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, str):
        # Members of an enumeration too.
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError(f"a prepared query takes text, integers and datetimes, not {value!r}")


def execute(sql: str, parameters: Sequence[Any], connection: Any) -> Any:
    """Execute the statement, and return its cursor."""
    cursor = server_binding_cursor(connection)
    if cursor is None:
        cursor = connection.cursor()
    else:
        sql = _numbered(sql)
    with ExitStack() as on_failure:
        on_failure.callback(cursor.close)
        cursor.execute(sql, parameters)
        on_failure.pop_all()
    return cursor


@lru_cache(maxsize=1024)
def _numbered(sql: str) -> str:
    """Return the SQL with numbered placeholders, and percent signs as PostgreSQL reads them.

    A repeated value has a number for each place: PostgreSQL would conclude that columns are equal, and join rows by
    them that it should look up for each slot.
    """
    numbers = itertools.count(1)
    return _PLACEHOLDER.sub(lambda match: "%" if match[0] == "%%" else f"${next(numbers)}", sql)
