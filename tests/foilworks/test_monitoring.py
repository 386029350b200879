"""What operators see: readiness, figures, lines of the log with their ids, reported errors without people."""

import errno
import gzip
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import psycopg
import pytest
import yaml
from django.conf import settings as settings_of_tests
from django.db import InterfaceError, OperationalError
from django.test import Client

from foilworks import __version__
from foilworks.core.jobs import trace
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
from foilworks.core.jobs.runner import run_now
from foilworks.site.monitoring import metrics, readiness, requests
from foilworks.site.monitoring.logs import JsonFormatter, without_people
from foilworks.site.server import outages
from tests.annotation.world import make_world
from tests.test_architecture import ROOT

TOKEN = {"Authorization": "Bearer figures"}


def caused(error: Exception, cause: Exception) -> Exception:
    """As Django raises what a driver raised."""
    error.__cause__ = cause
    return error


@pytest.fixture
def scraped(settings, client):
    """What Prometheus reads now."""
    settings.METRICS_TOKEN = "figures"

    def scrape() -> dict[str, float]:
        metrics._KEPT.forget()
        text = client.get("/metrics", headers=TOKEN).content.decode()
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _blank, value in lines}

    return scrape


@pytest.mark.django_db
def test_readiness_names_each_part(client, monkeypatch):
    monkeypatch.setattr(readiness, "is_reachable", lambda: True)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"ok": True, "database": "ok", "migrations": "ok", "queue": "ok", "storage": "ok", "disk": "ok"},
    )


@pytest.mark.django_db
def test_an_unavailable_part_makes_it_unready_and_is_only_named(client, monkeypatch, settings):
    monkeypatch.setattr(readiness, "_check_migrations_once", readiness._check_migrations_once.__wrapped__)
    monkeypatch.setattr(readiness.MigrationExecutor, "migration_plan", lambda self, targets: ["one"])
    monkeypatch.setattr(readiness, "default_storage", Away())
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (
        503,
        {
            "ok": False,
            "database": "ok",
            "migrations": "missing",
            "queue": "unreachable",
            "storage": "unreachable",
            "disk": "ok",
        },
    )


class Away:
    """A store that does not answer."""

    def exists(self, name):
        raise OSError("the store cannot be asked")


@pytest.mark.django_db
def test_a_full_disk_makes_it_unready(client, monkeypatch):
    monkeypatch.setattr(outages, "LEAST_FREE_BYTES", 2**60)
    assert client.get("/readyz").json()["disk"] == "full"


FULL_DISKS = {
    "a file": OSError(errno.ENOSPC, "No space left on device"),
    "SQLite": OperationalError("database or disk is full"),
    "PostgreSQL": caused(OperationalError("could not extend file"), psycopg.errors.DiskFull("no room")),
}
AWAY = {
    "closed": InterfaceError("connection already closed"),
    "refused": caused(OperationalError("connection failed"), psycopg.OperationalError("connection failed")),
    "ending": caused(OperationalError("terminating"), psycopg.errors.AdminShutdown("terminating")),
}
OTHERS = {
    "a fault": ValueError("disk is full"),
    "a lock": OperationalError("database is locked"),
    "a disk": OperationalError("disk I/O error"),
}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        *((error, 503, "disk is full") for error in FULL_DISKS.values()),
        *((error, 503, "database is unavailable") for error in AWAY.values()),
        *((error, 500, "Something went wrong on our side") for error in OTHERS.values()),
    ],
    ids=[*FULL_DISKS, *AWAY, *OTHERS],
)
def test_pages_name_the_unavailable_part(monkeypatch, error, status, words):
    def broken(*_given):
        raise error

    monkeypatch.setattr("foilworks.site.views.home.published_accounts", broken)
    client = Client(raise_request_exception=False)
    answer = client.get("/")
    assert (answer.status_code, words in answer.content.decode()) == (status, True)
    assert ("Retry-After" in answer.headers) == (status == 503)


def test_a_process_without_space_for_metrics_serves_without_them(tmp_path):
    """A limit of a file's size stands for the full disk; a mapped file without room ended the process (SIGBUS)."""
    program = (
        "import django; django.setup()\n"
        "from django.conf import settings\n"
        "from foilworks.site.monitoring.requests import count_request\n"
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "count_request('home', 'GET', 200, 0.1)\n"
        "count_request('home', 'GET', 200, 0.1)\n"
        "print('served')\n"
    )
    environment = {**os.environ, "FOILWORKS_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "served\n")
    assert "requests are not counted" in done.stderr


@pytest.mark.django_db
def test_metrics_need_the_token_or_a_listed_network(settings):
    assert Client().get("/metrics", headers=TOKEN).status_code == 404
    settings.METRICS_TOKEN = "figures"
    assert Client().get("/metrics", headers=TOKEN).status_code == 200
    assert Client().get("/metrics", headers={"Authorization": "Bearer other"}).status_code == 404
    assert Client().get("/metrics").status_code == 404
    settings.METRICS_TOKEN, settings.METRICS_NETWORKS = "", ("10.0.0.0/8",)
    assert Client(REMOTE_ADDR="10.3.4.5").get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="11.3.4.5").get("/metrics").status_code == 404


@pytest.mark.django_db
def test_requests_are_counted_by_route_and_status_and_no_address_becomes_a_label(scraped, client):
    before = scraped()
    client.get("/healthz")
    client.get("/no/such/page-of-ann/")
    client.generic("BREW", "/healthz")
    found = scraped()
    name = 'foilworks_requests_total{method="GET",route="healthz",status="200"}'
    assert found[name] == before.get(name, 0) + 1
    assert found['foilworks_requests_total{method="GET",route="none",status="404"}'] >= 1
    assert found['foilworks_requests_total{method="other",route="healthz",status="405"}'] >= 1
    assert found['foilworks_request_seconds_count{method="GET",route="healthz"}'] >= 1
    assert not [each for each in found if "page-of-ann" in each or "BREW" in each]


@pytest.mark.django_db
def test_jobs_claims_and_votes_are_counted(scraped):
    world = make_world()
    world.item()
    world.item()
    world.vote("vera")
    world.claim("vera", "validation")
    enqueue("samples.count", 1)
    found = scraped()
    assert found['foilworks_jobs{queue="default",state="waiting"}'] == 1
    assert found['foilworks_jobs{queue="gpu",state="failed"}'] == 0
    assert found["foilworks_oldest_waiting_job_seconds"] >= 0
    assert found['foilworks_votes{stage="validation"}'] == 1
    assert found['foilworks_claims{stage="validation"}'] == 1
    assert (found["foilworks_database_up"], found["foilworks_queue_up"]) == (1, 0)
    assert not [each for each in found if "vera" in each or world.project.slug in each]


COUNTING = """
import os, sys
os.environ["PROMETHEUS_MULTIPROC_DIR"] = sys.argv[1]
from prometheus_client import Counter, Histogram
Counter("foilworks_requests", "x", ["route", "method", "status"]).labels("elsewhere", "GET", "200").inc(7)
Histogram("foilworks_request_seconds", "x", ["route", "method"]).labels("elsewhere", "GET").observe(0.5)
"""


@pytest.mark.django_db
def test_sums_never_fall_when_a_process_is_replaced(scraped, settings, monkeypatch):
    count = 'foilworks_requests_total{method="GET",route="elsewhere",status="200"}'
    seconds = 'foilworks_request_seconds_sum{method="GET",route="elsewhere"}'
    before = scraped()
    for replaced in range(1, 4):
        subprocess.run([sys.executable, "-c", COUNTING, str(settings.METRICS_FOLDER)], check=True, cwd=ROOT)
        with monkeypatch.context() as full:
            # On a full disk the files of ended processes stay, and count.
            full.setattr(requests, "FILE_BYTES", 2**62)
            scraped()
        for _ in range(2):
            found = scraped()
            assert found[count] - before.get(count, 0) == 7 * replaced
            assert found[seconds] - before.get(seconds, 0) == pytest.approx(0.5 * replaced)
    own = {f"{kind}_{name}.db" for kind in ("counter", "histogram") for name in ("ended", os.getpid())}
    assert {path.name for path in settings.METRICS_FOLDER.glob("*.db")} <= own


@pytest.mark.django_db
def test_ended_jobs_deliveries_disk_backup_and_version_are_measured(scraped, settings):
    run_now(enqueue("samples.count", 1))
    folder = settings.FOILWORKS_HOME / "backups" / "daily"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    found = scraped()
    assert found['foilworks_jobs_ended{kind="samples.count",state="done"}'] == 1
    assert found['foilworks_job_seconds{kind="samples.count",state="done"}'] >= 0
    assert found['foilworks_job_wait_seconds{kind="samples.count",state="done"}'] >= 0
    assert (found['foilworks_deliveries{state="failed"}'], found["foilworks_webhooks_stopped"]) == (0, 0)
    assert 0 <= found["foilworks_backup_age_seconds"] < 3600
    assert found["foilworks_disk_free_bytes"] > 0
    assert found[f'foilworks_build_info{{version="{__version__}"}}'] == 1
    assert found["foilworks_oldest_heartbeat_seconds"] == 0


@pytest.mark.django_db
def test_dashboard_and_alerts_name_metrics_that_exist_and_show_all_of_them(scraped, client):
    client.get("/healthz")
    run_now(enqueue("samples.count", 1))
    (settings_of_tests.FOILWORKS_HOME / "backups" / "daily").mkdir(parents=True, exist_ok=True)
    (settings_of_tests.FOILWORKS_HOME / "backups" / "daily" / "manifest.json").write_text("{}")
    # Those of PostgreSQL and Redis, and those that tests above read.
    elsewhere = {"foilworks_database_connections", "foilworks_database_connections_limit"}
    elsewhere |= {"foilworks_queue_depth", "foilworks_claims", "foilworks_votes"}
    measured = {re.sub(r"_(count|sum|created)$", "", name.partition("{")[0]) for name in scraped()} | elsewhere
    documented = set(re.findall(r"`(foilworks_[a-z_]+)`", (ROOT / "docs/how-to/operations.md").read_text()))
    folder = ROOT / "deploy" / "monitoring"
    rules = yaml.safe_load((folder / "alerts.yaml").read_text())["groups"][0]["rules"]
    alerts = {name for rule in rules for name in re.findall(r"foilworks_[a-z_]+", rule["expr"])}
    panels = json.loads((folder / "dashboard.json").read_text())["panels"]
    shown = {n for panel in panels for row in panel["targets"] for n in re.findall(r"foilworks_[a-z_]+", row["expr"])}
    assert (alerts | shown) - measured == set()
    assert {name.removesuffix("_bucket") for name in shown} >= documented
    assert documented >= {name.removesuffix("_bucket") for name in measured if name.startswith("foilworks_")}
    if program := shutil.which("promtool"):
        subprocess.run([program, "check", "rules", folder / "alerts.yaml"], check=True, capture_output=True)


@pytest.mark.django_db
def test_a_request_has_an_id_that_its_jobs_and_their_lines_carry(client, caplog):
    answer = client.get("/healthz", headers={"X-Request-ID": "abcd-1234-proxy"})
    assert answer.headers["X-Request-ID"] == "abcd-1234-proxy"
    for forged in ("", "x", "a b c d e f g h", "<script>alert(1)</script>", "x" * 65):
        assert len(client.get("/healthz", headers={"X-Request-ID": forged}).headers["X-Request-ID"]) == 32
    with trace.working_on("abcd-1234-proxy"):
        job = enqueue("samples.count", 1)
    assert Job.objects.get().request_id == "abcd-1234-proxy"
    lines = []

    class Kept(logging.Handler):
        def emit(self, record):
            lines.append(json.loads(JsonFormatter().format(record)))

    logger, handler = logging.getLogger("foilworks.core.jobs.runner"), Kept()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        run_now(job)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert {(line["request_id"], line["job_id"]) for line in lines} == {("abcd-1234-proxy", str(job.pk))}
    assert (trace.request_id(), trace.job_id()) == ("", "")


@pytest.mark.django_db
def test_djangos_log_of_a_refusal_has_the_request_id(client, caplog):
    client.get("/no/such/page/", headers={"X-Request-ID": "abcd-1234-proxy"})
    (record,) = [each for each in caplog.records if each.name == "django.request"]
    assert json.loads(JsonFormatter().format(record))["request_id"] == "abcd-1234-proxy"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "said"),
    [("/join/the-token-of-somebody/", "/join/<str:token>/"), ("/no/such/page/", "/no/such/page/")],
)
def test_a_line_of_a_refusal_names_the_route_and_no_token(client, caplog, address, said):
    """As the handler of the settings, which comes before the test's, leaves it."""
    client.get(address)
    (record,) = [each for each in caplog.records if each.name == "django.request"]
    assert record.getMessage().endswith(f": {said}")


@pytest.mark.django_db
def test_requests_without_tls_are_redirected_if_the_setting_says_so(settings):
    assert Client().get("/sign-in/").status_code == 200
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 31536000
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    answer = Client().get("/sign-in/")
    assert (answer.status_code, answer.headers["Location"]) == (301, "https://testserver/sign-in/")
    assert "Strict-Transport-Security" not in answer.headers
    behind = Client().get("/sign-in/", headers={"x-forwarded-proto": "https"})
    assert (behind.status_code, behind.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
    # Who watches over us asks from near.
    assert Client().get("/healthz").status_code == 200


def test_a_log_line_is_one_object_whatever_it_quotes():
    record = logging.LogRecord("foilworks", logging.ERROR, __file__, 1, 'said "%s"', ('a\nb"c',), None)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line)["message"] == 'said "a\nb"c"'
    assert set(json.loads(line)) == {"time", "level", "logger", "message"}
    try:
        raise ValueError("broken")
    except ValueError:
        record.exc_info = sys.exc_info()
    assert "ValueError: broken" in json.loads(JsonFormatter().format(record))["error"]


def test_an_error_report_has_the_place_but_no_person():
    event = {
        "user": {"id": 7, "username": "ann"},
        "breadcrumbs": {"values": ["SELECT"]},
        "server_name": "host",
        "request": {"method": "POST", "url": "https://x/join/token/", "cookies": {}, "data": {"caption": "private"}},
        "exception": {"values": [{"type": "ValueError", "value": "caption: private", "stacktrace": {"frames": []}}]},
        "logentry": {"message": "job %s failed", "params": ["ann"], "formatted": "job ann failed"},
    }
    told = without_people(event, {})
    assert told["request"] == {"method": "POST"}
    assert told["exception"]["values"][0]["type"] == "ValueError"
    assert not [word for word in ("ann", "private", "token", "SELECT", "host") if word in json.dumps(told)]


class Sentry(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.came.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


REPORTING = """
import sys
import sentry_sdk
from foilworks.site.monitoring.logs import report_errors
report_errors(sys.argv[1])
try:
    caption = sys.argv[2]
    raise ValueError(caption)
except ValueError as error:
    sentry_sdk.capture_exception(error)
sentry_sdk.flush(5)
"""


@pytest.mark.full
def test_errors_are_reported_if_a_sentry_is_set():
    # In a process of its own: the library looks into others, such as Django's.
    with HTTPServer(("127.0.0.1", 0), Sentry) as server:
        server.came = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        address = f"http://key@127.0.0.1:{server.server_port}/1"
        subprocess.run([sys.executable, "-c", REPORTING, address, "the caption of ann"], check=True, cwd=ROOT)
        server.shutdown()
        thread.join()
    sent = b"".join(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in server.came)
    assert b"ValueError" in sent
    assert b"the caption of ann" not in sent
