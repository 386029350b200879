"""Recognize a full disk or an unavailable database, so that pages answer 503 with a message."""

import shutil
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError

from foilworks.core.jobs.runner import FULL

# PostgreSQL's class of errors 53 (insufficient resources), its shutdown codes, and failed connections.
FULL_STATES = frozenset({"53100"})
AWAY_STATES = ("08", "53", "57P")
FULL_WORDS = ("disk is full", "no space left on device", "could not extend file")
# SQLite's error for a file that it cannot reach, such as on a disk that is not mounted.
GONE_WORDS = ("unable to open database file",)
# SQLite's error for a full disk, also when its shared memory cannot grow.
DISK_ERROR = "disk i/o error"
# Seconds, for the Retry-After header.
RETRY_AFTER = "30"
# With less free space a host accepts no new work: uploads would not fit.
LEAST_FREE_BYTES = 100 * 2**20


def is_full(error: BaseException | None) -> bool:
    """Return whether the error, or one that caused it, is due to a full disk."""
    return any(_is_disk_full(cause) for cause in _chain(error))


def is_away(error: BaseException | None) -> bool:
    """Return whether the error, or one that caused it, is due to a database that does not answer."""
    return any(_is_database_away(cause) for cause in _chain(error))


def has_room(folder: Path) -> bool:
    """Return whether the folder's disk has room for new work."""
    return shutil.disk_usage(folder).free >= LEAST_FREE_BYTES


def _is_disk_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    state = getattr(error.__cause__, "sqlstate", None)
    message = str(error).lower()
    is_full_error = state in FULL_STATES or any(words in message for words in FULL_WORDS)
    is_full_error = is_full_error or (DISK_ERROR in message and not has_room(settings.FOILWORKS_HOME))
    return isinstance(error, OperationalError) and is_full_error


def _is_database_away(error: BaseException) -> bool:
    if isinstance(error, InterfaceError):
        return True
    cause = error.__cause__
    state = getattr(cause, "sqlstate", None)
    message = str(error).lower()
    lost = state is None and ("connection" in message or any(words in message for words in GONE_WORDS))
    return isinstance(error, OperationalError) and (lost or str(state or "").startswith(AWAY_STATES))


def _chain(error: BaseException | None) -> list[BaseException]:
    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    return causes
