"""A copy of a PostgreSQL that is written to, put back on an empty machine: one moment of it, whole."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.foilworks.test_backup import Home
from tests.postgres import Postgres, running_postgres
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent


@contextmanager
def people_voting(home: Home, stop: Path) -> Iterator[subprocess.Popen]:
    theirs = {name: value for name, value in home.environment.items() if not name.startswith("DJANGO_SETTINGS")}
    command = [sys.executable, "-m", "tests.foilworks.voting", str(stop)]
    with stop.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=theirs, stdout=log, stderr=log)
    try:
        yield process
    finally:
        stop.touch()
        process.wait(60)


def asked(server: Postgres, database: str, query: str) -> list[tuple]:
    with psycopg.connect(host=str(server.folder), user="postgres", dbname=database) as connection:
        return connection.execute(query).fetchall()


def votes(server: Postgres, database: str) -> int:
    return asked(server, database, "SELECT count(*) FROM annotation_vote")[0][0]


def wait_for_votes(server: Postgres, number: int, process: subprocess.Popen, stop: Path) -> None:
    def stored() -> bool:
        try:
            return votes(server, "work") >= number
        except psycopg.errors.UndefinedTable:
            return False

    wait_until(stored, processes=[process], log=stop.with_suffix(".log").read_text)


@pytest.mark.full
@pytest.mark.slow
def test_a_backup_made_while_people_vote_is_one_consistent_snapshot(tmp_path):
    stop = tmp_path / "stop"
    with running_postgres() as server:
        busy = Home(tmp_path / "busy", server.make("work"))
        # The first command of this process starts what all others are forked from: not while people vote.
        busy.run("--help")
        with people_voting(busy, stop) as process:
            wait_for_votes(server, 10, process, stop)
            before = votes(server, "work")
            busy.json("backup", "--out", tmp_path / "copy")
            after = votes(server, "work")
            assert process.poll() is None, stop.with_suffix(".log").read_text()
        assert process.returncode == 0, stop.with_suffix(".log").read_text()
        assert after > before, "people voted while the copy was made"

        empty = Home(tmp_path / "empty", server.make("fresh"))
        assert empty.json("restore", tmp_path / "copy")["aside"] is None
        assert before <= votes(server, "fresh") <= after
        assert empty.json("check")["ok"]
        release = "SELECT name, content_hash, n_items FROM corpus_release"
        assert asked(server, "fresh", release) == asked(server, "work", release)
        empty.json("export", "foilworks", "--project", "busy", "--release", "1", "--out", tmp_path / "export")
        verified = empty.json("verify", tmp_path / "export")
        assert (verified["ok"], verified["hash"]) == (True, asked(server, "work", release)[0][1])
        # Pseudonyms and links stay what they were: the key came along, and the clips did.
        for name in ("secret_key", "media/clip.mp4"):
            assert (empty.folder / name).read_bytes() == (busy.folder / name).read_bytes()
        assert (empty.folder / "secret_key").stat().st_mode & 0o077 == 0
