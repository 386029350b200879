"""Tell a full disk and a database that is away from faults of our own, so that pages answer 503 in words."""

import shutil
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError

from jobs.runner import FULL

# PostgreSQL's class of errors 53 (insufficient resources), its shutdown codes, and failed connections.
FULL_STATES = frozenset({"53100"})
AWAY_STATES = ("08", "53", "57P")
FULL_WORDS = ("disk is full", "no space left on device", "could not extend file")
# What SQLite says of a file that it cannot reach, such as on a disk that is not mounted.
GONE_WORDS = ("unable to open database file",)
# What SQLite says of a full disk, too, when its shared memory cannot grow.
DISK_ERROR = "disk i/o error"
# Seconds, as a header of the answer has them.
RETRY_AFTER = "30"
# Below this much free space a host takes no new work: what people send would not fit.
LEAST_FREE_BYTES = 100 * 2**20


def is_full(error: BaseException | None) -> bool:
    """Whether the error, or one that it came of, says that a disk has no room."""
    return any(_says_full(each) for each in _chain(error))


def is_away(error: BaseException | None) -> bool:
    """Whether the error, or one that it came of, is of a database that does not answer."""
    return any(_says_away(each) for each in _chain(error))


def has_room(folder: Path) -> bool:
    """Whether the disk of the folder has room for new work."""
    return shutil.disk_usage(folder).free >= LEAST_FREE_BYTES


def _says_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    state = getattr(error.__cause__, "sqlstate", None)
    said = str(error).lower()
    known = state in FULL_STATES or any(words in said for words in FULL_WORDS)
    known = known or (DISK_ERROR in said and not has_room(settings.FOILWORKS_HOME))
    return isinstance(error, OperationalError) and known


def _says_away(error: BaseException) -> bool:
    if isinstance(error, InterfaceError):
        return True
    cause = error.__cause__
    state = getattr(cause, "sqlstate", None)
    said = str(error).lower()
    lost = state is None and ("connection" in said or any(words in said for words in GONE_WORDS))
    return isinstance(error, OperationalError) and (lost or str(state or "").startswith(AWAY_STATES))


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
