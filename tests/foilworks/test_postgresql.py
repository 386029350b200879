"""A real PostgreSQL: what holds on SQLite holds there, thirty hands at once above all.

The tests named here run again in a process of their own, whose DATABASE_URL is a server started for them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import ConnectionHandler
from django.db.backends.postgresql import base

from foilworks.site.service_urls import database
from tests.commands import foilworks
from tests.postgres import Postgres, find_binaries, running_postgres

ROOT = Path(__file__).resolve().parent.parent.parent
PARALLEL = (
    "tests/annotation/test_parallel.py",
    "tests/annotation/test_parallel_entry.py",
    "tests/annotation/test_parallel_writes.py",
)
# Where the databases differ: locks, lazily loaded people, JSON columns, bulk writes, constraints, exact queries.
ALSO = (
    "tests/annotation/choices/test_compose_command.py",
    "tests/annotation/test_doubts.py",
    "tests/annotation/test_judge_and_claim.py",
    "tests/annotation/test_pages.py",
    "tests/annotation/test_queries.py",
    "tests/evaluation/test_exchange_store.py",
    "tests/evaluation/test_exchange_votes.py",
    "tests/evaluation/test_freeze_release.py",
    "tests/foilworks/test_check.py",
    "tests/generation/test_run.py",
    "tests/projects/test_prepared_queries.py",
)
# Of psycopg, where the address says nothing of it.
PREPARED = {"prepare_threshold": 0, "options": "-c plan_cache_mode=force_generic_plan -c jit=off"}


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


def environment(**also: str) -> dict[str, str]:
    theirs = ("PYTEST_", "DATABASE_", "DJANGO_SETTINGS_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    return {**inherited, **also}


def run_on(server: Postgres, *arguments: str) -> subprocess.CompletedProcess:
    """Run tests on the server, in one process: its start and its tables take as long as many of the tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *arguments]
    settings = environment(FOILWORKS_TEST_DATABASE_URL=server.url("foilworks"))
    return subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False)


@pytest.mark.slow(seconds=20)
def test_thirty_people_claim_no_task_twice_and_lose_no_vote(server):
    done = run_on(server, PARALLEL[0], "-k", "claimed_by_thirty or thirty_validators_collect")
    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.full
@pytest.mark.slow(seconds=130)
def test_postgresql_behaves_like_sqlite(server):
    done = run_on(server, *PARALLEL, *ALSO)
    assert done.returncode == 0, done.stdout[-6000:]
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert not [line for line in skipped if any(file in line for file in PARALLEL)], done.stdout[-6000:]


def test_the_commands_create_the_tables_and_find_no_violation(server, tmp_path):
    settings = environment(FOILWORKS_HOME=str(tmp_path), DATABASE_URL=server.make("commands"))
    for command in (["migrate", "--verbosity", "0"], ["check"]):
        done = foilworks(settings, *command)
        assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("invariants hold\n")
    assert not (tmp_path / "foilworks.sqlite3").exists()


def test_a_connection_is_checked_without_a_statement_until_the_server_ends_it(
    server, tmp_path, monkeypatch, django_db_blocker
):
    connection = ConnectionHandler({"default": database(server.make("checked"), tmp_path, "")})["default"]
    with django_db_blocker.unblock():
        connection.ensure_connection()
        with monkeypatch.context() as patch:
            patch.setattr(base.DatabaseWrapper, "is_usable", lambda self: pytest.fail("a statement was sent"))
            assert connection.is_usable()
        server.sql(f"SELECT pg_terminate_backend({connection.connection.info.backend_pid}, 60000)")
        assert not connection.is_usable()
        connection.close()
        assert not connection.is_usable()


def test_postgresql_is_installed_in_continuous_integration():
    if os.environ.get("CI"):
        assert find_binaries() is not None


@pytest.mark.parametrize(
    ("url", "name", "user", "password", "host", "port", "options"),
    [
        ("postgresql://u:p%40ss@db.example:5433/work", "work", "u", "p@ss", "db.example", "5433", PREPARED),
        ("postgres://db/work?sslmode=require", "work", "", "", "db", "", {"sslmode": "require", **PREPARED}),
        ("postgresql://u@/work?host=%2Frun%2FPg", "work", "u", "", "/run/Pg", "", PREPARED),
        ("postgresql://db/work?prepare_threshold=none", "work", "", "", "db", "", {"prepare_threshold": None}),
    ],
)
def test_the_address_of_a_server_is_read(url, name, user, password, host, port, options):
    got = database(url, Path("/home"), "")
    assert got["ENGINE"] == "foilworks.site.databases.postgresql"
    read = (got["NAME"], got["USER"], got["PASSWORD"], got["HOST"], got["PORT"], got["OPTIONS"])
    assert read == (name, user, password, host, port, options)


def test_the_address_of_an_unknown_database_is_refused_with_one_line(tmp_path):
    program = Path(sys.executable).with_name("foilworks")
    done = subprocess.run(
        [program, "check"],
        cwd=ROOT,
        env=environment(FOILWORKS_HOME=str(tmp_path), DATABASE_URL="mysql://u@db/work"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "foilworks: the settings are wrong: DATABASE_URL is not a postgresql:// or sqlite:// address; "
        "write it as one of them\n"
    )


def test_an_unreachable_server_gives_one_line(tmp_path):
    program = Path(sys.executable).with_name("foilworks")
    done = subprocess.run(
        [program, "check"],
        cwd=ROOT,
        env=environment(FOILWORKS_HOME=str(tmp_path), DATABASE_URL="postgresql://u@/work?host=%2Fnowhere"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("foilworks: the database: ")
    assert "start the database, or correct DATABASE_URL" in done.stderr
