"""Serve a home with a PostgreSQL of its own by the real web server, and be people with browsers.

Programs beside the tests and in `benchmarks` use it.

People sign in by session cookie, send the CSRF token of their page, and continue from the page that they see: they know
only what the pages say.
"""

import http.client
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SWAP = {"X-Foilworks-Swap": "1"}
_FIELD = re.compile(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)"')
_CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@contextmanager
def own_home(*, sqlite: bool = False) -> Iterator[Path]:
    """Create a home and a database with their tables, named in the environment. PostgreSQL, unless `sqlite`."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="foilworks-benchmark-")))
        os.environ["FOILWORKS_HOME"] = str(home)
        os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.site.settings"
        os.environ.pop("DATABASE_URL", None)
        if not sqlite:
            from tests.postgres import running_postgres

            os.environ["DATABASE_URL"] = stack.enter_context(running_postgres()).make("benchmark")
        make_tables()
        yield home


class _FromModels:
    """Replace MIGRATION_MODULES: no app has migrations, so tables are created from the models, ten times as fast."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


def make_tables() -> None:
    import django
    from django.core.management import call_command
    from django.test import override_settings

    django.setup()
    with override_settings(MIGRATION_MODULES=_FromModels()):
        call_command("migrate", verbosity=0, run_syncdb=True)


@dataclass
class Server:
    """gunicorn as `foilworks up` starts it; `process` is its first process."""

    port: int
    process: subprocess.Popen

    def cpu_seconds(self) -> float:
        """Return user and system time of the web server's processes so far."""
        return _cpu(self.process.pid)


@contextmanager
def serving() -> Iterator[Server]:
    """Run the web server while the block runs."""
    from foilworks.site.supervisor.services import GUNICORN
    from tests.ports import free_port
    from tests.waiting import wait_until

    port = free_port()
    told = (
        f"foilworks.site.wsgi:application --bind 127.0.0.1:{port} {GUNICORN} --graceful-timeout 2 --log-level warning"
    )
    arguments = told.split()
    process = subprocess.Popen([sys.executable, "-m", "gunicorn", *arguments], cwd=ROOT)
    try:
        wait_until(lambda: answers_at(port), processes=[process], log=lambda: "the web server does not start")
        yield Server(port, process)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers_at(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()
    return True


def _cpu(pid: int) -> float:
    import psutil

    parent = psutil.Process(pid)
    times = [process.cpu_times() for process in [parent, *parent.children(recursive=True)]]
    return sum(each.user + each.system for each in times)


def session_of(person: object) -> str:
    """Return a session cookie of the person, as a sign-in creates it."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(person)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@dataclass
class Browser:
    """One person's connection, kept alive.

    `url` and `page` are their address and what they see.
    """

    port: int
    session: str
    url: str = ""
    page: str = ""
    status: int = 0
    # The address that the last response sets, with its query.
    shown: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cookies["sessionid"] = self.session
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def get(self, url: str) -> None:
        self._ask("GET", url, None, {})

    def post(self, url: str, fields: dict[str, str], *, swap: bool = False) -> None:
        """Send a form with the page's CSRF token and follow redirects, as a browser does."""
        found = _CSRF.search(self.page)
        body = urlencode({"csrfmiddlewaretoken": found.group(1) if found else "", **fields})
        self._ask("POST", url, body, SWAP if swap else {})

    def submit(self, fields: dict[str, str], *, swap: bool = True) -> None:
        """Send the page's own form with its hidden fields and these values."""
        self.post(self.url, {**self.hidden(), **fields}, swap=swap)

    def hidden(self) -> dict[str, str]:
        form = self.page[self.page.find('<form id="answer"') :]
        fields = {name: unescape(value) for name, value in _FIELD.findall(form[: form.find("</form>")])}
        fields.pop("csrfmiddlewaretoken", None)
        return fields

    def _ask(self, method: str, url: str, body: str | None, headers: dict[str, str]) -> None:
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **headers}
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        began = time.perf_counter()
        self.connection.request(method, url, body, sent)
        answer = self.connection.getresponse()
        page = answer.read().decode()
        for header in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = header.partition(";")[0].partition("=")
            self.cookies[name] = value
        self.seconds.append(time.perf_counter() - began)
        moved = answer.headers.get("Location") if answer.status in (302, 303) else None
        moved = moved or (answer.headers.get("X-Foilworks-Go") if answer.status == 204 else None)
        if moved:
            self._ask("GET", moved, None, {})
            return
        self.shown = answer.headers.get("X-Foilworks-Url") or url
        self.url = urlsplit(self.shown)._replace(query="").geturl()
        self.page, self.status = page, answer.status
