"""Dump and load the database as one file: SQLite by its online backup, PostgreSQL by pg_dump and pg_restore."""

import os
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

from django.db import connection
from psycopg.conninfo import make_conninfo

from foilworks.site.backup.errors import BackupError

# Options of a connection that are Django's and that libpq does not know.
NOT_LIBPQ = {"assume_role", "isolation_level", "pool", "server_side_binding", "prepare_threshold"}

PATIENCE_S = 3.0
# The server's own sessions (autovacuum) have no user; not everybody may see the sessions of another user.
OTHER_SESSIONS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
    AND coalesce(backend_type, 'client backend') = 'client backend'
"""


def file_name() -> str:
    """Return the file name of the dump of this kind of database."""
    return "database.sqlite3" if connection.vendor == "sqlite" else "database.dump"


def dump(target: Path) -> None:
    """Write the database as of one moment, while people continue to work. Raises BackupError, OSError."""
    if connection.vendor == "sqlite":
        _copy_sqlite(_sqlite_path(), target)
        return
    _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}", f"--dbname={_conninfo()}")


def refuse_if_used() -> None:
    """Raise BackupError if others are connected: a restore would lose their work."""
    is_in_use = _sqlite_is_used() if connection.vendor == "sqlite" else _postgresql_is_used()
    if is_in_use:
        raise BackupError("others use this database; stop the pages and workers that run on it, then restore")


def load(source: Path) -> None:
    """Replace everything in the database by the dump. BackupError: it cannot be read. Nothing else may be running."""
    if connection.vendor == "sqlite":
        _replace_sqlite(source)
        return
    _run("pg_restore", "--list", str(source))
    _drop_tables()
    options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
    _run("pg_restore", *options, f"--dbname={_conninfo()}", str(source))


def _sqlite_is_used() -> bool:
    """Check for other connections: the log has an exclusive owner only without them. Our next connection reopens it."""
    path = _sqlite_path()
    connection.close()
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)) as only_connection:
            return only_connection.execute("PRAGMA journal_mode=DELETE").fetchone() != ("delete",)
    except sqlite3.Error as error:
        # Another error does not mean other connections: people restore because a file is damaged.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _postgresql_is_used() -> bool:
    """Check for other sessions, repeatedly: a command that has just ended is still listed for a moment."""
    until = time.monotonic() + PATIENCE_S
    while True:
        with connection.cursor() as cursor:
            cursor.execute(OTHER_SESSIONS)
            if not cursor.fetchone()[0]:
                return False
        if time.monotonic() > until:
            return True
        time.sleep(0.1)


def _sqlite_path() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


def _copy_sqlite(source: Path, target: Path) -> None:
    try:
        read_only = f"{source.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(read_only, uri=True)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as error:
        raise BackupError(f"{source}: cannot be copied ({error}); check that the disk works and has space") from error


def _replace_sqlite(source: Path) -> None:
    """Write a temporary file, then rename it: one whole database exists at every moment."""
    path = _sqlite_path()
    connection.close()
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    _copy_sqlite(source, new)
    # The old file's journal must not be replayed into the new one.
    for tail in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    new.replace(path)


def _drop_tables() -> None:
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        if tables:
            names = ", ".join(connection.ops.quote_name(table) for table in tables)
            cursor.execute(f"DROP TABLE {names} CASCADE")
    connection.close()


def _conninfo() -> str:
    """Return the address for PostgreSQL's programs without the password, which `ps` would show to everybody."""
    database = connection.settings_dict
    options = {name: value for name, value in database["OPTIONS"].items() if name not in NOT_LIBPQ}
    settings_keys = {"dbname": "NAME", "user": "USER", "host": "HOST", "port": "PORT"}
    return make_conninfo(
        **options, **{name: str(database[key]) for name, key in settings_keys.items() if database[key]}
    )


def _run(program: str, *arguments: str) -> None:
    executable = shutil.which(program) or _debian_path(program)
    if executable is None:
        raise BackupError(f"{program} is not installed; install PostgreSQL's client programs (postgresql-client)")
    # The password is in the environment, like ours: no file with it remains if this process is killed.
    password = str(connection.settings_dict["PASSWORD"])
    environment = {**os.environ, **({"PGPASSWORD": password} if password else {})}
    process = subprocess.run([executable, *arguments], capture_output=True, text=True, check=False, env=environment)
    if process.returncode != 0:
        reason = " ".join(process.stderr.split())[:500]
        raise BackupError(f"{program} failed: {reason}; fix the cause, then try again")


def _debian_path(program: str) -> str | None:
    """Return the path of a server program on Debian, which is not on PATH; the newest works with older servers."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: folder.parent.name.zfill(4))
    return next((str(folder / program) for folder in reversed(folders) if (folder / program).exists()), None)
