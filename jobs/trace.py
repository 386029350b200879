"""Whose work this is: the id of the request, and of the job that came of it; they stand in every line of the log."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# What a proxy of ours may have named the request already; nothing else gets into logs and rows.
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{7,63}")

_request_id: ContextVar[str] = ContextVar("request_id", default="")
_job_id: ContextVar[str] = ContextVar("job_id", default="")


def request_id() -> str:
    """Of the request that is being answered, or that asked for the job at work; empty in a command."""
    return _request_id.get()


def job_id() -> str:
    return _job_id.get()


def named(given: str) -> str:
    """The id that came with a request, where it is one; else a new one."""
    return given if PLAIN.fullmatch(given) else uuid.uuid4().hex


@contextmanager
def working_on(request: str, job: str = "") -> Iterator[None]:
    """Within the block the ids are these."""
    tokens = _request_id.set(request), _job_id.set(job)
    try:
        yield
    finally:
        _request_id.reset(tokens[0])
        _job_id.reset(tokens[1])
