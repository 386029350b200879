"""A worker that is stopped at a named call, as by its supervisor."""

from collections.abc import Callable
from typing import Any


class Stop(BaseException):
    """What ends the process of a worker."""


def stopping_at(number: int, function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    """`function`, which notes its calls and stops once, at this call (from 1)."""

    def called(*given: Any, **named: Any) -> Any:
        calls.append(None)
        if len(calls) == number:
            raise Stop
        return function(*given, **named)

    return called
