"""Cookies, caches and methods as browsers of others meet them, on every address."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from tests import test_access_matrix as matrix
from tests.test_architecture import ROOT

COOKIES = """
import json
import django; django.setup()
from django.conf import settings
from django.test import Client, RequestFactory
from projects import known_browsers
from projects.message_cookies import Messages
answer = Client().post("/language/", {"language": "de"}, secure=True)
request = RequestFactory().get("/")
messages = Messages.storage_classes[0](request)
messages.add(20, "Stored.")
messages.update(answer)
known_browsers.remember(request, answer, "ann")
cookies = {name: dict(cookie) for name, cookie in answer.cookies.items()}
own = {"session": settings.SESSION_COOKIE_NAME, "csrf": settings.CSRF_COOKIE_NAME}
print(json.dumps([cookies, own, settings.CSRF_COOKIE_HTTPONLY, settings.CSRF_COOKIE_SECURE]))
"""


def test_secure_cookies_have_names_that_browsers_take_by_tls_alone(tmp_path):
    told = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "foilworks.settings",
        "FOILWORKS_HOME": str(tmp_path),
        "SECURE_COOKIES": "1",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", COOKIES], cwd=ROOT, env=told, capture_output=True, text=True, check=True
    )
    cookies, own, *csrf = json.loads(done.stdout.splitlines()[-1])
    assert own == {"session": "__Host-sessionid", "csrf": "__Host-csrftoken"}
    assert csrf == [True, True]
    known = next(name for name in cookies if "known" in name)
    assert {*cookies} == {"__Host-language", "__Host-messages", known}
    assert known.startswith("__Secure-known-")
    for name, cookie in cookies.items():
        assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "Lax"), name
        assert (cookie["domain"], cookie["path"]) == ("", "/sign-in/" if name == known else "/")


def test_no_script_reads_a_cookie():
    scripts = (ROOT / "foilworks" / "static").rglob("*.js")
    assert [
        path.name for path in scripts if "vendor" not in path.parts and re.search(r"document\.cookie", path.read_text())
    ] == []


@pytest.fixture
def world(db):
    return matrix.make_world()


# Their own rules: videos and pictures are found again by their content, charts are asked for again each time.
KEPT = {"corpus:media", "corpus:clip", "corpus:film_strip", "annotation:frame_image", "api_docs"}
KEPT |= {"releases:release_chart", "reports:report_chart", "teacher:teacher_curve"}


def test_no_cache_keeps_what_depends_on_who_asks(world):
    kept = {}
    for name, rule in matrix.RULES.items():
        if rule.get != 200 or name in KEPT:
            continue
        person = world.people["researcher" if "researcher" in rule.may else rule.may[0]]
        client = Client()
        if person is not None:
            client.force_login(person)
        answer = client.get(matrix.address(name, world))
        if answer.streaming:
            b"".join(answer.streaming_content)
        if "no-store" not in answer.headers.get("Cache-Control", ""):
            kept[name] = answer.headers.get("Cache-Control")
    assert kept == {}


def test_no_address_echoes_a_request(world):
    client = Client(raise_request_exception=False)
    client.force_login(world.people["superuser"])
    answers = {
        name: client.trace(matrix.address(name, world), headers={"X-Secret": "hunter2"}) for name in matrix.RULES
    }
    assert {name for name, answer in answers.items() if answer.status_code == 200} == set()
    assert [name for name, answer in answers.items() if b"hunter2" in answer.content] == []


def test_no_page_moves_where_its_addresses_start(client, world):
    assert "base-uri 'none'" in client.get("/").headers["Content-Security-Policy"]
    pages = Path(ROOT / "foilworks" / "templates").rglob("*.html")
    assert [page.name for page in pages if "<base" in page.read_text(encoding="utf-8")] == []
