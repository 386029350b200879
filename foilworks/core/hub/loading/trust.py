"""Permissions beyond safetensors and our own code, while one model is being loaded. Imports no torch."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from foilworks.core.hub.interfaces import Trust

_allowed: ContextVar[Trust | None] = ContextVar("allowed", default=None)


def allowed() -> Trust:
    """Return what is allowed for the model that is being loaded: nothing by default."""
    return _allowed.get() or Trust()


@contextmanager
def trusting(trust: Trust) -> Iterator[None]:
    token = _allowed.set(trust)
    try:
        yield
    finally:
        _allowed.reset(token)
