"""One test for all rows of a table: its message lists every row that fails."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def for_each(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test once per row, with the values of the row under these names, as one test.

    `pytest.mark.parametrize` makes a test of each row, which has fixtures of its own and costs more than most rows do.
    Rows share the fixtures, so they must not change what they share.
    """
    fields = [name.strip() for name in names.split(",")]
    table = [row if len(fields) > 1 else (row,) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def check_rows(*receiver: Any, **fixtures: Any) -> None:
            assert table, "the table is empty"
            failures = []
            for row in table:
                try:
                    test(*receiver, **dict(zip(fields, row, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                    failures.append(f"{row}: {type(error).__name__}: {error}")
            assert not failures, "\n".join([f"{len(failures)} of {len(table)} rows fail", *failures])

        signature = inspect.signature(test)
        kept = [parameter for parameter in signature.parameters.values() if parameter.name not in fields]
        check_rows.__signature__ = signature.replace(parameters=kept)
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(check_rows, name, getattr(test, name))
        return check_rows

    return decorate
