"""Cookies, caches and methods as browsers of others meet them, on every address; what no code of ours does."""

import ast
import json
import logging
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client, override_settings
from django.utils import timezone

from foilworks.core.hub.adapters.chat_endpoint import _certificates
from foilworks.site.monitoring.logs import JsonFormatter, PlainFormatter
from foilworks.site.publishing.models import new_key
from tests import test_access_matrix as matrix
from tests.test_architecture import ROOT

COOKIES = """
import json
import django; django.setup()
from django.conf import settings
from django.http import HttpResponse
from django.test import RequestFactory
from foilworks.core.projects.message_cookies import Messages
from foilworks.core.projects.sign_in import known_browsers
answer = HttpResponse()
request = RequestFactory().get("/")
messages = Messages.storage_classes[0](request)
messages.add(20, "Stored.")
messages.update(answer)
known_browsers.remember(request, answer, "ann")
cookies = {name: dict(cookie) for name, cookie in answer.cookies.items()}
own = {"session": settings.SESSION_COOKIE_NAME, "csrf": settings.CSRF_COOKIE_NAME}
print(json.dumps([cookies, own, settings.CSRF_COOKIE_HTTPONLY, settings.CSRF_COOKIE_SECURE]))
"""


def test_secure_cookies_have_names_that_browsers_accept_only_over_tls(tmp_path):
    told = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "foilworks.site.settings",
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
    assert {*cookies} == {"__Host-messages", known}
    assert known.startswith("__Secure-known-")
    for name, cookie in cookies.items():
        assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "Lax"), name
        assert (cookie["domain"], cookie["path"]) == ("", "/sign-in/" if name == known else "/")


def test_no_script_reads_a_cookie():
    scripts = (ROOT / "static").rglob("*.js")
    assert [
        path.name for path in scripts if "vendor" not in path.parts and re.search(r"document\.cookie", path.read_text())
    ] == []


class Seen(NamedTuple):
    """A page that was answered with 200."""

    headers: Mapping[str, str]
    body: bytes


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[matrix.World]:
    """Made once: making it takes the time."""
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("hardening")):
            yield matrix.make_world()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def pages(world) -> dict[str, Seen]:
    """Every page, as somebody sees it who is signed in and may."""
    found, clients = {}, {}
    for name in (name for name, rule in matrix.RULES.items() if rule.get == 200):
        may = matrix.RULES[name].may
        who = next(person for person in ("superuser", *may) if person in may and person != "anonymous")
        if who not in clients:
            clients[who] = Client()
            clients[who].force_login(world.people[who])
        answer = clients[who].get(matrix.address(name, world))
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        if answer.status_code == 200:
            found[name] = Seen(answer.headers, body)
    assert len(found) > 90
    return found


# Their own rules: videos and pictures are found again by their content, charts are asked for again each time.
KEPT = {"corpus:media", "corpus:clip", "corpus:film_strip", "annotation:frame_image", "api_docs"}
KEPT |= {"releases:release_chart", "reports:report_chart", "teacher:teacher_curve"}


@pytest.mark.full
def test_no_cache_stores_personal_responses(pages):
    kept = {name: seen.headers.get("Cache-Control", "") for name, seen in pages.items() if name not in KEPT}
    assert {name: said for name, said in kept.items() if "no-store" not in said} == {}


def test_no_response_echoes_a_request(world, db):
    client = Client(raise_request_exception=False)
    client.force_login(world.people["superuser"])
    answers = {
        name: client.trace(matrix.address(name, world), headers={"X-Secret": "hunter2"}) for name in matrix.RULES
    }
    assert {name for name, answer in answers.items() if answer.status_code == 200} == set()
    assert [name for name, answer in answers.items() if b"hunter2" in answer.content] == []


def test_no_page_sets_a_base_address(client, db):
    assert "base-uri 'none'" in client.get("/").headers["Content-Security-Policy"]
    pages = (ROOT / "templates").rglob("*.html")
    assert [page.name for page in pages if "<base" in page.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(("debug", "has_policy"), [(True, False), (False, True)])
def test_only_djangos_own_page_about_an_error_has_no_content_policy(client, debug, has_policy):
    with override_settings(DEBUG=debug):
        missing, page = client.get("/no-such-page/"), client.get("/sign-in/")
    assert (missing.status_code, "Content-Security-Policy" in missing.headers) == (404, has_policy)
    assert (page.status_code, "Content-Security-Policy" in page.headers) == (200, True)


def test_every_response_forbids_referrers_and_frames(pages):
    for name, (headers, _body) in pages.items():
        if name == "publishing:public_embed":
            # The board alone, without a form: made for frames of other sites.
            assert "X-Frame-Options" not in headers
            assert "frame-ancestors *" in headers["Content-Security-Policy"]
            continue
        assert (headers["Referrer-Policy"], headers["X-Frame-Options"]) == ("same-origin", "DENY"), name
        if headers["Content-Type"].startswith("text/html"):
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"], name


def test_every_page_for_signed_in_people_has_a_sign_out_button(pages):
    whole = {name: seen.body for name, seen in pages.items() if seen.body.startswith(b"<!doctype html>")}
    assert len(whole) > 70
    # A frame on another site's page has no session.
    del whole["publishing:public_embed"]
    assert [name for name, body in whole.items() if b'action="/sign-out/"' not in body] == []


# What a browser loads with a page, without pictures and clips.
LOADED_FILE = re.compile(r'<link rel="(?:stylesheet|modulepreload|icon)" href="([^"]+)"|<script [^>]*src="([^"]+)"')


def test_every_page_loads_in_ten_requests(pages):
    whole = {name: seen.body.decode() for name, seen in pages.items() if seen.body.startswith(b"<!doctype html>")}
    loaded = {name: {"".join(match) for match in LOADED_FILE.findall(body)} for name, body in whole.items()}
    assert {name: files for name, files in loaded.items() if not 4 < len(files) < 10} == {}


PACKAGES = ("annotation", "evaluation", "foilworks", "generation")
# Texts of the code that a function is given.
OWN_FORMATS = {"words", "form", "where"}
MODULES = {"pickle", "marshal", "shelve", "dill", "xml", "lxml", "yaml", "telnetlib", "ftplib"}


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """(file, node) of all code but migrations."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "migrations" not in path.parts]
    kinds = ast.Call | ast.Import | ast.ImportFrom | ast.Attribute
    return [
        (path.relative_to(ROOT).as_posix(), node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, kinds)
    ]


@cache
def calls() -> list[tuple[str, str, ast.Call]]:
    """(file and line, what is called, the call)."""
    return [(f"{path}:{node.lineno}", dotted(node.func), node) for path, node in nodes() if isinstance(node, ast.Call)]


def dotted(node: ast.AST) -> str:
    """`a.b.c` of names and attributes; "" in place of anything else."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def test_no_text_becomes_code():
    bad = [(where, name) for where, name, _call in calls() if name in {"eval", "exec", "compile", "__import__"}]
    bad += [(where, name) for where, name, call in calls() if any(each.arg == "shell" for each in call.keywords)]
    bad += [(where, name) for where, name, _call in calls() if name.endswith(("os.system", ".from_string"))]
    for where, _name, call in calls():
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"format", "format_map"}:
            text = dotted(call.func.value)
            if not (isinstance(call.func.value, ast.Constant) or text.split(".")[-1].isupper() or text in OWN_FORMATS):
                bad.append((where, text))
    for path, node in nodes():
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            bad += [(path, name) for name in names if name.partition(".")[0] in MODULES]
    # A file without a name, which only the process that wrote it can open.
    assert bad == [("foilworks/core/text/spill.py", "pickle")]


def test_no_user_text_is_used_as_a_pattern():
    """Patterns are texts of the code; what else is part of one went through `re.escape`."""
    bad = []
    for where, name, call in calls():
        if not (name.startswith("re.") and name != "re.escape" and call.args):
            continue
        pieces = [each.value for each in ast.walk(call.args[0]) if isinstance(each, ast.FormattedValue)]
        used = {each.id for piece in pieces for each in ast.walk(piece) if isinstance(each, ast.Name)}
        source = (ROOT / where.partition(":")[0]).read_text(encoding="utf-8")
        escaped = all("re.escape" in ast.unparse(piece) for piece in pieces) or "re.escape" in source
        if not escaped and not all(each.isupper() or each in {"sorted", "len"} for each in used):
            bad.append((where, ast.unparse(call.args[0])))
    assert bad == []


def test_no_weak_hash_and_no_guessable_number():
    """`random` draws samples by a seed, and never what nobody may guess; hashes are SHA-256."""
    allowed = {"hashlib.sha256", "hashlib.file_digest"}
    bad = [(where, name) for where, name, _call in calls() if name.startswith("hashlib.") and name not in allowed]
    bad += [(where, name) for where, name, _call in calls() if name.startswith("random.") and name != "random.Random"]
    weak = {"md5", "sha1", "ECB", "RC4", "DES"}
    bad += [(path, node.attr) for path, node in nodes() if isinstance(node, ast.Attribute) and node.attr in weak]
    # Django's own default is SHA-1.
    bad += [
        (where, name)
        for where, name, call in calls()
        if name == "salted_hmac" and "algorithm" not in {each.arg for each in call.keywords}
    ]
    assert bad == []
    assert len({new_key() for _ in range(50)}) == 50
    assert len(new_key()) >= 128 / 6


def test_passwords_are_stored_by_a_slow_hash():
    program = (
        "import django; django.setup(); from django.contrib.auth import hashers; print(hashers.make_password('x'))"
    )
    told = {**os.environ, "DJANGO_SETTINGS_MODULE": "foilworks.site.settings", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=told, capture_output=True, text=True, check=True
    )
    algorithm, rounds, *_ = done.stdout.split("$")
    assert algorithm == "pbkdf2_sha256"
    assert int(rounds) >= 600_000


def test_certificate_checks_are_never_disabled():
    bad = [
        (where, name)
        for where, name, call in calls()
        for each in call.keywords
        if each.arg == "verify" and ast.unparse(each.value) != "_certificates()"
    ]
    words = {"_create_unverified_context", "CERT_NONE", "check_hostname"}
    bad += [(path, node.attr) for path, node in nodes() if isinstance(node, ast.Attribute) and node.attr in words]
    assert bad == []
    # The one context that is shared is that of httpx itself.
    assert (_certificates().verify_mode, _certificates().check_hostname) == (ssl.CERT_REQUIRED, True)


def test_proxies_allow_only_new_tls():
    nginx = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"ssl_protocols (.*);", nginx) == ["TLSv1.2 TLSv1.3"]
    # What listens without TLS sends to TLS, and passes nothing on.
    servers = re.findall(r"^server \{.*?^\}", nginx, re.MULTILINE | re.DOTALL)
    plain = [server for server in servers if re.search(r"listen\s+80\b", server)]
    assert re.findall(r"listen\s+(\d+)", nginx) == ["443", "80"]
    assert [("return 308 https://" in server, "location" in server, "proxy" in server) for server in plain] == [
        (True, False, False)
    ]
    # Without a word Caddy speaks 1.2 and 1.3, fetches certificates and leads http to https.
    caddy = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    assert not re.search(r"protocols|\btls\b|auto_https|http://", caddy)


def test_moments_of_logs_and_rows_name_their_zone():
    record = logging.LogRecord("x", logging.WARNING, "x.py", 1, "said", (), None)
    moment = datetime.fromisoformat(json.loads(JsonFormatter().format(record))["time"])
    assert moment.utcoffset() == timedelta(0)
    assert settings.USE_TZ
    assert timezone.now().utcoffset() == timedelta(0)


def test_values_cannot_forge_log_lines():
    record = logging.LogRecord("x", logging.WARNING, "x.py", 1, "name: %s", ("a\r\nERROR root forged",), None)
    form = settings.LOGGING["formatters"]["plain"]["format"]
    for line in (PlainFormatter(form).format(record), JsonFormatter().format(record)):
        assert len(line.splitlines()) == 1
