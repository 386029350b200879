"""Clients that send slowly, too much or not all: they keep nobody waiting, and nothing of theirs is half stored."""

import io
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import UnreadablePostError
from django.test import Client
from django.urls import reverse

from foilworks.core.projects.limits.upload_limits import STRANGERS_MOST
from foilworks.core.projects.models import Role
from foilworks.site.server.web_server import threads, workers
from foilworks.site.server.web_worker import BODY_SECONDS, Deadlines, length_of, seconds_for
from foilworks.site.server.whole_bodies import WholeBody, with_whole_bodies
from tests.factories import make_member, make_project
from tests.ports import free_port
from tests.test_architecture import ROOT
from tests.waiting import wait_until

DRIPPING, SECONDS, BYTE_EVERY_S = 200, 60.0, 4.0
FRONTS = ("caddy", "nginx")


def request_of(body: bytes, length: int) -> WSGIRequest:
    """The request as Django gets it, with the announced length and the bytes that came."""
    got: list[dict] = []
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(length),
        "wsgi.input": io.BytesIO(body),
    }
    with_whole_bodies(lambda given, _start: got.append(given) or [])(environ, lambda *_: None)
    return WSGIRequest(got[0])


def test_a_body_that_ends_early_is_refused():
    assert request_of(b"a=1&b=2", 7).POST.dict() == {"a": "1", "b": "2"}
    with pytest.raises(UnreadablePostError, match="is incomplete"):
        _ = request_of(b"a=1&b=", 7).POST


@pytest.mark.parametrize("cut", range(9))
def test_every_way_of_reading_detects_an_early_end(cut):
    whole = b"ab\ncd\nef\n"
    stream = WholeBody(io.BytesIO(whole[:cut]), len(whole))
    with pytest.raises(OSError, match="is incomplete"):
        for _ in range(4):
            stream.readline(100)
    assert WholeBody(io.BytesIO(whole), len(whole)).read(len(whole)) == whole


def test_deadlines_end_only_late_requests():
    late, early, dropped = (socket.socketpair() for _ in range(3))
    deadlines = Deadlines()
    deadlines.set(late[0], 0.0)
    deadlines.set(early[0], 600.0)
    deadlines.set(dropped[0], 0.0)
    deadlines.drop(dropped[0])
    late[0].settimeout(30)
    assert late[0].recv(1) == b""
    for pair in (early, dropped):
        pair[1].send(b"x")
        assert pair[0].recv(1) == b"x"
    # The answer still reaches who was late.
    late[0].send(b"!")
    assert late[1].recv(1) == b"!"
    for one, other in (late, early, dropped):
        one.close()
        other.close()


def test_the_deadline_of_a_body_depends_on_its_size():
    assert length_of([("HOST", "x"), ("CONTENT-LENGTH", "64000")]) == 64000
    assert length_of([("CONTENT-LENGTH", "-1")]) == length_of([]) == 0
    assert seconds_for(0) == BODY_SECONDS < seconds_for(10**6) < seconds_for(10**9)


class Unread(io.BytesIO):
    """A body that nobody may look at."""

    def read(self, *_size: int) -> bytes:
        raise AssertionError("the body was read")

    readline = read


@pytest.mark.django_db
def test_large_bodies_of_visitors_are_refused_unread():
    project = make_project()
    upload = reverse("imports:new_import", args=[project.slug])
    form = "application/x-www-form-urlencoded"
    client = Client(enforce_csrf_checks=True)

    def sent(path: str, length: int) -> int:
        return client.generic("POST", path, b"", form, CONTENT_LENGTH=length, **{"wsgi.input": Unread()}).status_code

    assert sent("/sign-in/", STRANGERS_MOST + 1) == 413
    assert sent("/password/reset/", 30 * 2**20) == 413
    assert sent(upload, 10) == 302
    answer = client.post("/sign-in/", {"username": "a" * STRANGERS_MOST, "password": "b"})
    assert (answer.status_code, "Sign in first" in answer.content.decode()) == (413, True)
    # Who is signed in sends what the pages take.
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    assert client.post(upload, {"text": "x" * (STRANGERS_MOST + 1)}).status_code != 413


@contextmanager
def served(tmp_path: Path) -> Iterator[int]:
    """The pages as units start them."""
    port = free_port()
    options = f"--config python:foilworks.site.server.web_server --bind 127.0.0.1:{port}"
    told = f"-m gunicorn foilworks.site.wsgi:application {options}"
    with running(
        [sys.executable, *told.split()], tmp_path / "web", {"FOILWORKS_HOME": str(tmp_path / "home")}
    ) as _process:
        until_it_answers(port)
        yield port


@contextmanager
def running(command: list[str], log: Path, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen]:
    with log.open("w") as file:
        told = {**os.environ, **(environment or {})}
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=told, cwd=ROOT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def until_it_answers(port: int) -> None:
    def answers() -> bool:
        with suppress(OSError):
            return health(port)[0] == 200
        return False

    wait_until(answers, log=lambda: f"nothing answers at port {port}")


def health(port: int, patience: float = 60.0) -> tuple[int, float]:
    """The status of /healthz, and the seconds it took."""
    start = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        said = sock.recv(100)
    return int(said.split()[1]) if said else 0, time.perf_counter() - start


@contextmanager
def dripping(port: int, count: int, path: str = "/sign-in/") -> Iterator[None]:
    """`count` strangers that send one byte of their body now and then, and come back when they are cut off."""
    over = threading.Event()
    # With the cookie, the pages look for the token in the body, so they read it; without it they refuse it unread.
    cookie = f"Cookie: {settings.CSRF_COOKIE_NAME}={'a' * 32}\r\n"
    form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{cookie}{form}\r\na".encode()

    def drip() -> None:
        while not over.is_set():
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
                sock.sendall(head)
                while not over.wait(BYTE_EVERY_S):
                    sock.sendall(b"x")

    threads = [threading.Thread(target=drip, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1)
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(10)


@pytest.mark.machines
def test_slow_bodies_are_cut_off_without_a_proxy(tmp_path):
    """More of them than there are threads: their requests end, and others get their turn."""
    with served(tmp_path) as port, dripping(port, workers * threads + 1):
        assert health(port)[0] == 200


def fronted(front: str, folder: Path, behind: int) -> tuple[list[str], int]:
    """The command of a front with the directives of deploy/, on a port of its own and without TLS."""
    port = free_port()
    if front == "caddy":
        text = (ROOT / "deploy/Caddyfile").read_text().replace("{$SITE_HOST}", f"http://localhost:{port}")
        text = text.replace("web:8000", f"127.0.0.1:{behind}").replace("{$MEDIA_HOST}", "http://media.localhost")
        text = text.replace("{\n\tservers", f"{{\n\tadmin off\n\thttp_port {free_port()}\n\tservers", 1)
        (folder / "Caddyfile").write_text(text)
        return ["caddy", "run", "--config", str(folder / "Caddyfile")], port
    text = (ROOT / "deploy/nginx.conf").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{behind}")
    text = text.replace("listen 443 ssl http2", f"listen 127.0.0.1:{port}").replace("/var/log/nginx", str(folder))
    text = "\n".join(line for line in text.splitlines() if "ssl_certificate" not in line)
    # All strangers of this test come from one address; the limit of connections would answer for the buffering.
    text = text.replace("limit_conn foilworks_addresses 100", "limit_conn foilworks_addresses 1000")
    head = f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{ worker_connections 2000; }}"
    (folder / "nginx.conf").write_text(f"{head}\nhttp {{\n{text}\n}}\n")
    return ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)], port


@pytest.mark.machines
@pytest.mark.parametrize("path", ["/sign-in/", "/projects/any/imports/", "/r/any/scores/"])
@pytest.mark.parametrize("front", FRONTS)
def test_fast_requests_do_not_wait_for_200_slow_clients_behind_a_proxy(front, path, tmp_path, capsys):
    if not shutil.which(front):
        pytest.skip(f"{front} is not installed; docs/testing.md says how")
    with served(tmp_path) as behind:
        command, port = fronted(front, tmp_path, behind)
        with running(command, tmp_path / front), dripping_later(port, path):
            start, seconds = time.monotonic(), []
            while time.monotonic() < start + SECONDS / 3:
                status, took = health(port)
                assert status == 200
                seconds.append(took)
                time.sleep(0.5)
    with capsys.disabled():
        sys.stdout.write(f"\n{front} {path}: /healthz took at most {max(seconds):.2f} s in {len(seconds)} requests\n")


@contextmanager
def dripping_later(port: int, path: str) -> Iterator[None]:
    until_it_answers(port)
    with dripping(port, DRIPPING, path):
        yield
