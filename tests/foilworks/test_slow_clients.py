"""Clients that send slowly, too much or not all: they keep nobody waiting, and nothing of theirs is half stored."""

import io
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import UnreadablePostError
from django.test import Client
from django.urls import get_resolver, reverse, reverse_lazy

from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.limits.pace import (
    HEAD_ONLY,
    HEAD_SECONDS,
    MAX_UNFINISHED,
    MAX_UNFINISHED_PER_ADDRESS,
    MIB,
    MIN_BYTES_PER_SECOND,
    SMALL_BODY_BYTES,
    UNFINISHED_SECONDS,
    WINDOW_SECONDS,
)
from foilworks.core.projects.limits.visitor_pages import upload_pages, visitor_pages
from foilworks.core.projects.models import Role
from foilworks.site.server.arriving import Arriving, Pace, too_many
from foilworks.site.server.whole_bodies import WholeBody, with_whole_bodies
from tests.factories import make_member, make_project
from tests.ports import free_port
from tests.test_architecture import ROOT
from tests.waiting import wait_until

DRIPS = ((9, 1.0), (60, 3.0), (200, 4.9))
SECONDS = 15.0
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


def arriving(now: float = 0.0, n_bytes: int = 0, total: int | None = None, address: str = "") -> Arriving:
    """A connection that began at `now`, without a socket."""
    conn = Arriving.__new__(Arriving)
    conn.started, conn.n_bytes, conn.total, conn.address = now, n_bytes, total, address
    conn.lingers_until, conn.pace = None, Pace(now, free_seconds=WINDOW_SECONDS)
    return conn


def test_a_head_has_a_deadline_and_a_body_a_minimum_rate():
    assert [arriving().is_late(now) for now in (HEAD_SECONDS - 1, HEAD_SECONDS)] == [False, True]
    # Much at once, then a byte now and then: the first window is free, the second is the last.
    burst = arriving(n_bytes=5, total=10**7)
    steps = [(5, 1_100_000), (20, 1_100_001), (30, 1_100_004)]
    states = []
    for now, burst.n_bytes in steps:
        states.append(burst.is_late(now))
    assert states == [False, False, True]
    steady = arriving(total=10**9)
    for now in range(0, 1000, 10):
        steady.n_bytes = now * MIN_BYTES_PER_SECOND
        assert not steady.is_late(now)


def test_unfinished_bodies_are_limited_per_address_and_process():
    slow, fast = (arriving(n_bytes=n, total=10**6, address="a") for n in (1, 10**5))
    others = [arriving(n_bytes=100, total=10**6, address="a") for _ in range(MAX_UNFINISHED_PER_ADDRESS - 1)]
    assert too_many([slow, *others, fast], UNFINISHED_SECONDS) == [slow]
    assert too_many([slow, *others, fast], UNFINISHED_SECONDS / 2) == []
    many = [arriving(n_bytes=n + 2, total=10**6, address=str(n)) for n in range(MAX_UNFINISHED)]
    assert too_many([*many, slow], UNFINISHED_SECONDS) == [slow]


def test_the_table_of_visitors_pages_is_complete():
    """A view that visitors may open either takes GET alone or has a row, so that nobody forgets its limits."""
    open_views = dict(views_of(get_resolver().url_patterns))
    assert not set(visitor_pages()) - set(open_views)
    takes_forms = {name for name, view in open_views.items() if not takes_get_alone(view)}
    assert takes_forms - {"api_unknown"} == set(visitor_pages())


def takes_get_alone(view: Callable) -> bool:
    """Whether a decorator of the view refuses every method but GET and HEAD."""
    cells = [cell.cell_contents for cell in view.__closure__ or ()]
    methods = [set(cell) for cell in cells if isinstance(cell, list | tuple) and "GET" in cell]
    inner = getattr(view, "__wrapped__", None)
    return any(methods_ <= {"GET", "HEAD"} for methods_ in methods) or bool(inner and takes_get_alone(inner))


def views_of(patterns: list, space: str = "") -> Iterator[tuple[str, Callable]]:
    """The views that visitors may open, without the operations of the API, which ask for a token."""
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from views_of(pattern.url_patterns, f"{pattern.namespace}:" if pattern.namespace else space)
        elif not getattr(pattern.callback, "login_required", True) and space != "api:":
            yield space + (pattern.name or ""), pattern.callback


def test_the_files_for_fronts_follow_the_declaration():
    nginx, caddy = ((ROOT / "deploy" / name).read_text() for name in ("nginx.conf", "Caddyfile"))
    streamed = re.search(r"location ~ (\S+) {\n        client_max_body_size 2g", nginx)
    paths = {name: reverse(name, kwargs=ARGUMENTS.get(name)) for name in visitor_pages()}
    assert not any(re.search(streamed[1], path) for path in paths.values())
    for name in upload_pages():
        arguments = {"slug": "a"} | ({"pk": 1} if name.endswith("bring_scores") else {})
        assert re.search(streamed[1], reverse(name, kwargs=arguments)), name
    buffered = int(re.search(r"client_max_body_size (\d+)m;", nginx)[1])
    assert buffered * MIB > max(page.max_bytes for page in visitor_pages().values())
    # Caddy buffers small forms; it names no page that a new one could miss.
    assert ("path" not in caddy, f"request_buffers {SMALL_BODY_BYTES // 1024}KiB" in caddy) == (True, True)


ARGUMENTS = {
    "annotation:enter": {"key": "a"},
    "projects:join": {"token": "a"},
    "projects:password_new": {"uidb64": "a", "token": "b"},
    "projects:unsubscribe": {"token": "a"},
    "publishing:public_scores": {"key": "a"},
    "publishing:report": {"key": "a"},
}
DRIPPED = {reverse_lazy(name, kwargs=ARGUMENTS.get(name)): page.max_bytes for name, page in visitor_pages().items()}


@pytest.mark.django_db
@pytest.mark.parametrize("name", [name for name, page in visitor_pages().items() if page.limit])
def test_limits_count_before_the_body_is_read(name):
    client, path = Client(), reverse(name, kwargs=ARGUMENTS.get(name))
    unread = {"wsgi.input": Unread(), "CONTENT_LENGTH": 1000, HEAD_ONLY: True}
    form = "multipart/form-data; boundary=x"
    most = visitor_pages()[name].limit.most
    statuses = [client.generic("POST", path, b"", form, **unread).status_code for _ in range(most + 1)]
    assert statuses == [100] * most + [429]
    assert client.get(path).status_code in {200, 404}


@pytest.mark.django_db
def test_pages_admit_a_large_body_by_its_head():
    project = make_project()
    upload, import_api = reverse("imports:new_import", args=[project.slug]), f"/api/v1/projects/{project.slug}/imports"
    researcher = make_member(project, Role.RESEARCHER)
    token = "Bearer " + make_token(researcher, name="x", scope="manage").secret

    def admitted(path: str, length: int, client: Client, **headers: str) -> int:
        unread = {"wsgi.input": Unread(), "CONTENT_LENGTH": length, HEAD_ONLY: True}
        return client.generic("POST", path, b"", "multipart/form-data; boundary=x", **unread, **headers).status_code

    stranger, member = Client(), Client()
    member.force_login(researcher)
    assert [admitted(upload, 10**7, client) for client in (stranger, member)] == [302, 100]
    assert admitted(upload, settings.UPLOAD_MAX_BYTES * 2, member) == 413
    assert admitted(import_api, 10**7, stranger) == 413
    assert admitted(import_api, 10**7, stranger, HTTP_AUTHORIZATION=token) == 100
    assert admitted(reverse("audit"), settings.AUDIT_MAX_BYTES * 2, stranger) == 413


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

    assert sent("/sign-in/", SMALL_BODY_BYTES + 1) == 413
    assert sent("/password/reset/", 30 * 2**20) == 413
    assert sent(upload, 10) == 302
    answer = client.post("/sign-in/", {"username": "a" * SMALL_BODY_BYTES, "password": "b"})
    assert (answer.status_code, "Sign in first" in answer.content.decode()) == (413, True)
    # Who is signed in sends what the pages take.
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    assert client.post(upload, {"text": "x" * (SMALL_BODY_BYTES + 1)}).status_code != 413


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
def dripping(port: int, count: int, path: str = "/sign-in/", length: int = 1000, every: float = 4.0) -> Iterator[None]:
    """`count` strangers that send most of a body and then a byte now and then; they come back when they are cut off."""
    over = threading.Event()
    # With the cookie, the pages look for the token in the body, so they read it; without it they refuse it unread.
    cookie = f"Cookie: {settings.CSRF_COOKIE_NAME}={'a' * 32}\r\n"
    form = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{cookie}{form}\r\n".encode()

    def drip() -> None:
        while not over.is_set():
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
                sock.sendall(head + b"a" * (length // 4))
                while not over.wait(every):
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


@pytest.mark.full
def test_slow_bodies_take_no_thread(tmp_path):
    """More of them than there are threads, on every page that visitors may send to."""
    with served(tmp_path) as port, ExitStack() as strangers:
        for path, length in DRIPPED.items():
            strangers.enter_context(dripping(port, 2, str(path), length))
        assert health(port)[0] == 200


def caddy_version() -> tuple[int, ...]:
    told = subprocess.run(["caddy", "version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", told)[:2]))


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
@pytest.mark.parametrize("path", [*DRIPPED, "/projects/any/imports/"], ids=str)
@pytest.mark.parametrize("front", ["", *FRONTS])
def test_fast_requests_do_not_wait_for_slow_clients(front, path, tmp_path, capsys):
    if front and not shutil.which(front):
        pytest.skip(f"{front} is not installed; docs/testing.md says how")
    if front == "caddy" and caddy_version() < (2, 7):
        pytest.skip("caddy is older than 2.7, and has no request_buffers")
    with served(tmp_path) as behind, ExitStack() as stack:
        command, port = fronted(front, tmp_path, behind) if front else ([], behind)
        if front:
            stack.enter_context(running(command, tmp_path / front))
        until_it_answers(port)
        for count, every in DRIPS:
            seconds = []
            with dripping(port, count, str(path), DRIPPED.get(path, 10**8), every):
                start = time.monotonic()
                while time.monotonic() < start + SECONDS:
                    status, took = health(port)
                    assert status == 200
                    seconds.append(took)
                    time.sleep(0.5)
            with capsys.disabled():
                sys.stdout.write(
                    f"\n{front or 'no front'} {path} {count} drips: /healthz {max(seconds):.2f} s at most\n"
                )
