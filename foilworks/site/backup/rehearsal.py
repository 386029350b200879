"""Restore a backup beside the installation, into a home and a database that are removed afterwards."""

import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.db import DatabaseError, connection

from foilworks.core.text.atomic_folders import work_folder
from foilworks.site.backup.errors import BackupError

LOCK = 0x666F696C  # "foil": one rehearsal per database at a time.
MAX_NAME_BYTES = 63


def rehearse(folder: Path) -> dict[str, Any]:
    """Restore the backup as `foilworks restore` does on an empty machine, and check it with every stored file.

    The installation is not touched, and people can continue. BackupError: the backup cannot be restored here, there is
    no room, or the database's user must not create databases.
    """
    try:
        with work_folder(settings.FOILWORKS_HOME / "rehearsal", mode=0o700) as home, _empty_database(home) as url:
            # Empty values mean the default of that home, whatever the environment and `.env` say.
            environment = {"FOILWORKS_HOME": str(home), "DATABASE_URL": url, "STORAGE_URL": "", "REDIS_URL": ""}
            # A file `.env` in the home may contain it, and the other home has none.
            environment["DATABASE_PASSWORD"] = connection.settings_dict["PASSWORD"]
            restored = _run_command(environment, "restore", str(folder))
            check = _run_command(environment, "check", "--files" if restored["media"] else "--no-media")
    except OSError as error:
        raise BackupError(
            f"{folder}: cannot be restored here ({error.strerror}); free space in FOILWORKS_HOME"
        ) from error
    restored_fields = ("made_at", "media", "key", "rows")
    return {"from": str(folder), **{name: restored[name] for name in restored_fields}, **check}


def _run_command(environment: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    """Return the command's output in the other home. Raises BackupError with its message."""
    command = [settings.FOILWORKS_PYTHON, "-m", "django", *arguments, "--json", "--settings", "foilworks.site.settings"]
    process = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    try:
        output: dict[str, Any] = json.loads(process.stdout)
    except ValueError as error:
        error_lines = process.stderr.strip().splitlines() or [
            "it ended without a message; check that the disk has space"
        ]
        raise BackupError(error_lines[-1].removeprefix("foilworks: ")) from error
    return output


@contextmanager
def _empty_database(home: Path) -> Iterator[str]:
    """Yield the address of a new database on the same server.

    It is dropped at the end, as are those of killed processes.
    """
    if connection.vendor == "sqlite":
        yield f"sqlite://{quote(str(home / 'foilworks.sqlite3'))}"
        return
    database_name = str(connection.settings_dict["NAME"]).encode()[: MAX_NAME_BYTES - 24].decode(errors="ignore")
    name = f"{database_name}_rehearsal_{uuid.uuid4().hex[:12]}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            raise BackupError("another rehearsal is running on this database; wait until it has ended")
        try:
            _drop_abandoned(cursor, database_name)
            _create(cursor, name)
            yield urlsplit(settings.DATABASE_URL)._replace(path=f"/{quote(name)}").geturl()
        finally:
            cursor.execute(f"DROP DATABASE IF EXISTS {connection.ops.quote_name(name)}")
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _create(cursor: Any, name: str) -> None:
    try:
        cursor.execute(f"CREATE DATABASE {connection.ops.quote_name(name)} TEMPLATE template0")
    except DatabaseError as error:
        reason = " ".join(str(error).split())
        raise BackupError(
            f"a database for the rehearsal cannot be created ({reason}); allow the user to create "
            "databases (ALTER ROLE … CREATEDB), or rehearse on another machine"
        ) from error


def _drop_abandoned(cursor: Any, database_name: str) -> None:
    cursor.execute("SELECT datname FROM pg_database")
    pattern = re.compile(rf"{re.escape(database_name)}_rehearsal_[0-9a-f]{{12}}")
    for (name,) in cursor.fetchall():
        if pattern.fullmatch(name):
            cursor.execute(f"DROP DATABASE IF EXISTS {connection.ops.quote_name(name)}")
