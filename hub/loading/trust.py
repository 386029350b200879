"""What is allowed beyond safetensors and code of this house, while one model is being loaded. Imports no torch."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hub.interfaces import Trust

_allowed: ContextVar[Trust | None] = ContextVar("allowed", default=None)


def allowed() -> Trust:
    """Nothing, unless somebody said otherwise for the model that is being loaded."""
    return _allowed.get() or Trust()


@contextmanager
def trusting(trust: Trust) -> Iterator[None]:
    token = _allowed.set(trust)
    try:
        yield
    finally:
        _allowed.reset(token)
