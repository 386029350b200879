"""Trace ids: of the request, and of the job that it queued. Every line of the log contains them."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# The format of a request id from our proxy; nothing else may get into logs and rows.
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{7,63}")

_request_id: ContextVar[str] = ContextVar("request_id", default="")
_job_id: ContextVar[str] = ContextVar("job_id", default="")


def request_id() -> str:
    """Return the id of the current request, or of the request that queued the current job; empty in a command."""
    return _request_id.get()


def job_id() -> str:
    return _job_id.get()


def valid_or_new_id(sent_id: str) -> str:
    """Return the id that came with a request if it is valid, else a new one."""
    return sent_id if PLAIN.fullmatch(sent_id) else uuid.uuid4().hex


@contextmanager
def working_on(request: str, job: str = "") -> Iterator[None]:
    """Set the ids within the block."""
    tokens = _request_id.set(request), _job_id.set(job)
    try:
        yield
    finally:
        _request_id.reset(tokens[0])
        _job_id.reset(tokens[1])
