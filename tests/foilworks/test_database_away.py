"""A database that really goes away: PostgreSQL is stopped, SQLite's folder is gone. Pages and the API answer 503."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import running_postgres
from tests.test_architecture import ROOT

# A process of the installation: it asks once the database is there, and again when a line says that it is not.
PROGRAM = """
import json, sys
import django; django.setup()
from django.db import connection
from django.test import Client
client = Client(raise_request_exception=False)
form = {"username": "ada", "password": "x"}
def ask(kind):
    ways = {
        "page": lambda: client.post("/sign-in/", form),
        "api": lambda: client.get("/api/v1/me", headers={"Authorization": "Bearer fw_" + "x" * 43}),
        "healthz": lambda: client.get("/healthz"),
    }
    answer = ways[kind]()
    return [answer.status_code, answer.headers.get("Retry-After", ""), answer.content.decode()]
before = ask("healthz")
connection.ensure_connection()
if connection.vendor == "sqlite":
    # An open file stays open wherever its folder goes; a new thread opens it again.
    connection.close()
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps({"before": before, **{kind: [ask(kind), ask(kind)] for kind in ("page", "api", "healthz")}}))
"""


@pytest.fixture(params=["postgresql", "sqlite"])
def database(request, tmp_path):
    """(DATABASE_URL, what takes the database away)."""
    home = tmp_path / "home"
    home.mkdir()
    if request.param == "sqlite":
        folder = tmp_path / "disk"
        folder.mkdir()
        yield f"sqlite:///{folder}/foilworks.sqlite3", lambda: folder.rename(tmp_path / "elsewhere")
        return
    with running_postgres() as server:
        yield server.make("away"), server.stop


@pytest.mark.machines
def test_pages_and_the_api_say_that_the_database_is_away(database, tmp_path):
    url, take_away = database
    told = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "foilworks.site.settings",
        "FOILWORKS_HOME": str(tmp_path / "home"),
        "DATABASE_URL": url,
        "PYTHONPATH": str(ROOT),
        "ALLOWED_HOSTS": "testserver",
    }
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(ROOT),
        env=told,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        take_away()
        out, _ = process.communicate("gone\n", timeout=60)
    found = json.loads(out.splitlines()[-1])
    assert found["before"][0] == 200
    for status, retry, said in found["page"]:
        assert (status, retry, "The database is unavailable" in said) == (503, "30", True)
    for status, retry, said in found["api"]:
        assert (status, retry, json.loads(said)["problem"][:27]) == (503, "30", "The database is unavailable")
    # A restart of the process would not help: the service manager leaves it alone.
    assert [status for status, _retry, _said in found["healthz"]] == [200, 200]
