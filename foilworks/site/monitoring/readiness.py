"""Check that this process can work now: database with all tables, queue, video store, disk."""

from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from foilworks.core.jobs.queue import is_reachable
from foilworks.site.server.outages import has_room

# No object has this name: the store answers that it does not exist.
PROBE = ".ready"


class _NotYetError(Exception):
    """The tables are not up to date."""


def readiness() -> dict[str, str]:
    """Return part -> ok, or the problem in a word, without addresses: anyone may ask."""
    checks: dict[str, Callable[[], str]] = {
        "database": _database,
        "migrations": _migrations,
        "queue": _queue,
        "storage": _storage,
        "disk": _disk,
    }
    return {name: ask() for name, ask in checks.items()}


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "unreachable"
    return "ok"


def _migrations() -> str:
    try:
        _check_migrations_once()
    except _NotYetError:
        return "missing"
    except DatabaseError:
        return "unreachable"
    return "ok"


@cache
def _check_migrations_once() -> None:
    """Cache whether the tables are up to date: they stay so while this process runs."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise _NotYetError


def _queue() -> str:
    return "ok" if is_reachable() else "unreachable"


def _disk() -> str:
    try:
        return "ok" if has_room(settings.FOILWORKS_HOME) else "full"
    except OSError:
        return "unreachable"


def _storage() -> str:
    try:
        default_storage.exists(PROBE)
    except OSError:
        return "unreachable"
    return "ok"
