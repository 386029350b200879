"""The commands of docs/how-to/back-up.md on a real installation: it is backed up, destroyed and restored, and people
sign in again. On PostgreSQL with a role of its own and a password, as an installation has."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from foilworks.core.media.encode import write_mp4
from tests.foilworks.test_backup import Home
from tests.media.painted import painted_clip
from tests.ports import free_port
from tests.postgres import Postgres, running_postgres
from tests.waiting import wait_until

pytestmark = [pytest.mark.machines, pytest.mark.slow(seconds=60)]
NAME, PASSWORD, RECORDS = "olga", "a long word for olga", 12
UNIT = Path(__file__).resolve().parents[2] / "deploy/systemd/foilworks-backup.service"
(TIMER,) = re.findall(r"^ExecStart=\S+/foilworks (.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
ROLE, ROLES_PASSWORD = "foilworks", "pass'word: with \\ marks"


def records() -> str:
    common = {"subtest": "doors", "votes": {"caption": 3, "foil": 0, "other": 0}}
    rows = [
        {"id": f"r{k}", "video": f"v{k % 3}.mp4", "caption": f"person {k} opens a door.", "foil": f"person {k} shuts."}
        for k in range(RECORDS)
    ]
    return "".join(f"{json.dumps({**row, **common})}\n" for row in rows)


@contextmanager
def installation(database: str, folder: Path) -> Iterator[tuple[Home, "Site"]]:
    with ExitStack() as stack:
        server = stack.enter_context(running_postgres()) if database == "postgresql" else None
        site = Site(server)
        yield Home(folder / "home", site.make_database()), site


class Site:
    """The database of an installation, which can be lost; its pages, while they are served."""

    def __init__(self, server: Postgres | None) -> None:
        self.server = server
        if server is None:
            return
        server.sql(f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{ROLES_PASSWORD.replace(chr(39), 2 * chr(39))}'")
        (rules,) = server.folder.rglob("pg_hba.conf")
        rules.write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        server.sql("SELECT pg_reload_conf()")

    def make_database(self) -> str:
        if self.server is None:
            return ""
        self.server.sql(f"CREATE DATABASE work OWNER {ROLE}")
        password = httpx.URL("http://h/", username="u", password=ROLES_PASSWORD).userinfo.decode().partition(":")[2]
        return self.server.url("work").replace("postgres@", f"{ROLE}:{password}@")

    def destroy(self, home: Home) -> None:
        shutil.rmtree(home.folder)
        if self.server is not None:
            self.server.sql("DROP DATABASE work")
            self.make_database()

    def databases(self) -> set[str]:
        import psycopg

        with psycopg.connect(host=str(self.server.folder), user="postgres", dbname="postgres") as connection:
            return {name for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall()}


@contextmanager
def served(home: Home) -> Iterator[httpx.Client]:
    """The pages of `foilworks up`, as somebody without an account sees them."""
    program, port = Path(os.sys.executable).with_name("foilworks"), free_port()
    with (home.folder.parent / "up.log").open("ab") as log:
        up = subprocess.Popen([program, "up", "--port", str(port)], env=home.environment, stdout=log, stderr=log)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                wait_until(lambda: answers(client), processes=[up])
                yield client
        finally:
            up.send_signal(signal.SIGTERM)
            assert up.wait(60) == 0


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def sign_in(client: httpx.Client) -> None:
    page = client.get("/sign-in/").text
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
    answer = client.post("/sign-in/", data={"csrfmiddlewaretoken": token, "username": NAME, "password": PASSWORD})
    assert answer.status_code == 302, answer.text[-1000:]
    assert is_signed_in(client)


def is_signed_in(client: httpx.Client) -> bool:
    answer = client.get("/account/", follow_redirects=False)
    return answer.status_code == 200 and NAME in answer.text


def videos(home: Home) -> dict[str, str]:
    root = home.folder / "media"
    paths = [path for path in sorted(root.rglob("*")) if path.is_file()]
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_an_installation_that_was_destroyed_is_restored_and_people_sign_in(database, tmp_path):
    with installation(database, tmp_path) as (home, site):
        home.environment["DJANGO_SUPERUSER_PASSWORD"] = PASSWORD
        home.json("migrate")
        home.json("createsuperuser", "--noinput", "--username", NAME, "--email", "olga@example.org")
        (tmp_path / "set.jsonl").write_text(records(), encoding="utf-8")
        (tmp_path / "clips").mkdir()
        for number in range(3):
            write_mp4(tmp_path / "clips" / f"v{number}.mp4", painted_clip(4 + number), fps=8)
        given = ("--project", "mine", "--create", "--as-published", "--media", tmp_path / "clips")
        home.json("import", "jsonl", tmp_path / "set.jsonl", *given)
        frozen = home.json("release", "--project", "mine", "--name", "v1")
        with served(home) as client:
            sign_in(client)
            session = dict(client.cookies)
            # While people work: a backup, and its rehearsal.
            copy = tmp_path / "safe" / "monday"
            home.json("backup", "--out", copy)
            rehearsed = home.json("restore", copy, "--rehearse")
            # The backup of the timer has no videos.
            nightly = home.json(*TIMER.split())
            assert home.json("restore", nightly["out"], "--rehearse")["ok"]
            assert is_signed_in(client)
        there = videos(home)
        assert len(there) >= 3
        site.destroy(home)
        restored = home.json("restore", copy)
        assert restored["aside"] is None
        assert restored["rows"] == rehearsed["rows"]
        assert (restored["rows"]["items"], restored["rows"]["releases"], restored["rows"]["people"]) == (RECORDS, 1, 1)
        assert home.json("check", "--files")["ok"]
        assert rehearsed["ok"]
        assert videos(home) == there
        # The release is the one that was frozen.
        home.json("export", "foilworks", "--project", "mine", "--release", "v1", "--out", tmp_path / "export")
        assert home.json("verify", tmp_path / "export")["hash"] == frozen["hash"]
        with served(home) as client:
            assert not is_signed_in(client)
            sign_in(client)
            client.cookies.clear()
            client.cookies.update(session)
            assert is_signed_in(client), "the session from before the backup counts: the key came back with it"
        assert [path.name for path in (tmp_path / "safe").iterdir()] == ["monday"]
        if site.server is not None:
            assert not [name for name in site.databases() if "rehearsal" in name]
