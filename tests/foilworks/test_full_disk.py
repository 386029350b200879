"""A disk that is really full: a small file system of its own for the home, filled to the last byte."""

import http.cookiejar
import os
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.foilworks.test_slow_clients import running, until_it_answers
from tests.ports import free_port
from tests.postgres import running_postgres
from tests.test_architecture import ROOT

ROOM = "96m"
ACCOUNT = {"username": "ada", "password": "correct horse 7"}


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system in memory of ROOM bytes; only root may mount one."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", folder], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("this test mounts a file system of its own: run it as root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Path:
    path = folder / "ballast"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(2**20))
        except OSError:
            pass
        try:
            while True:
                file.write(b"x")
        except OSError:
            return path


class Browser:
    """A stranger that signs in; `ask` gives status and text."""

    def __init__(self, port: int) -> None:
        self.site = f"http://localhost:{port}"
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar)

    def ask(self, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        data = urllib.parse.urlencode(form).encode() if form else None
        try:
            with self.opener.open(self.site + path, data, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def sign_in(self) -> tuple[int, str]:
        page = self.ask("/sign-in/")[1]
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        return self.ask("/sign-in/", {**ACCOUNT, "csrfmiddlewaretoken": token[1] if token else ""})


@contextmanager
def site(home: Path, log: Path, database: str) -> Iterator[tuple[Browser, psutil.Process]]:
    told = {**os.environ, "FOILWORKS_HOME": str(home), "DATABASE_URL": database}
    made = {**told, "DJANGO_SUPERUSER_PASSWORD": ACCOUNT["password"]}
    ada = ["createsuperuser", "--noinput", "--username", ACCOUNT["username"], "--email", "ada@example.org"]
    for command in (["migrate"], ada):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=made, check=True, capture_output=True)
    port = free_port()
    options = f"--config python:foilworks.site.server.web_server --bind 127.0.0.1:{port}"
    serve = f"-m gunicorn foilworks.site.wsgi:application {options}"
    with running([sys.executable, *serve.split()], log, told) as process:
        until_it_answers(port)
        yield Browser(port), psutil.Process(process.pid)


def processes(server: psutil.Process) -> set[int]:
    return {child.pid for child in server.children()}


@pytest.mark.machines
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_full_disk_ends_no_process_and_loses_nothing(kind, tmp_path):
    with small_disk(tmp_path / "home") as home, database_of(kind, tmp_path) as database:
        with site(home, tmp_path / "web.log", database) as (browser, server):
            before = processes(server)
            ballast = fill(home)
            statuses = [browser.ask(path)[0] for path in ("/healthz", "/", "/readyz", "/sign-in/") for _ in range(4)]
            assert statuses == [200] * 8 + [503] * 4 + [200] * 4
            assert '"disk": "full"' in browser.ask("/readyz")[1]
            status, page = browser.sign_in()
            if kind == "sqlite":
                assert (status, "The server’s disk is full" in page) == (503, True)
            else:
                # The database is elsewhere: only the figures go uncounted.
                assert status == 200
            assert processes(server) == before
            ballast.unlink()
            assert browser.sign_in()[0] == 200
            assert browser.ask("/account/")[0] == 200
        check = [sys.executable, "manage.py", "check"]
        told = {**os.environ, "FOILWORKS_HOME": str(home), "DATABASE_URL": database}
        done = subprocess.run(check, cwd=ROOT, env=told, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def database_of(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield ""
        return
    with running_postgres() as server:
        yield server.make("full_disk")
