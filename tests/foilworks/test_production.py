"""`foilworks doctor --production`: every setting that is not fit for others is named, with what to do."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
import yaml
from django.conf import settings as live
from django.core.management import call_command

from foilworks.site.private_files import make_private, open_to_others
from foilworks.site.production_checks import findings
from tests.factories import make_project
from tests.test_architecture import ROOT

pytestmark = pytest.mark.django_db

POSTGRESQL = {
    "ENGINE": "foilworks.site.databases.postgresql",
    "HOST": "db.example.org",
    "PASSWORD": "x",
    "OPTIONS": {"sslmode": "require"},
    "NAME": "f",
}
SOUND = {
    "SECRET_KEY": "Zq3-" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2,
    "ALLOWED_HOSTS": ["foils.example.org", "localhost"],
    "CSRF_TRUSTED_ORIGINS": ["https://foils.example.org"],
    "SESSION_COOKIE_SECURE": True,
    "CSRF_COOKIE_SECURE": True,
    "SECURE_SSL_REDIRECT": True,
    "SECURE_HSTS_SECONDS": 31536000,
    "TRUSTED_PROXIES": 1,
    "REDIS_URL": "redis://:password@queue.example.org:6379/0",
    "STORAGE_URL": "s3://videos",
    "STORAGES": {**live.STORAGES, "default": {"BACKEND": "x", "OPTIONS": {"endpoint_url": "https://s3.example.org"}}},
    "OIDC_URL": "https://id.example.org",
    "OIDC_SIGN_UP": False,
    "CHAT_ENDPOINTS": {"lab": {"url": "https://lab.example.org/v1"}, "here": {"url": "http://127.0.0.1:8000/v1"}},
    "WEBHOOK_NETWORKS": ("10.1.0.0/16",),
    "METRICS_NETWORKS": ("10.2.0.0/16",),
}
# What is changed -> (the setting that is named, words of what is said of it).
BREAKS = {
    "errors with their code": ({"DEBUG": True}, "FOILWORKS_DEBUG", "unset it"),
    "a short key": ({"SECRET_KEY": "short"}, "SECRET_KEY", "50 random characters"),
    "a known key": ({"SECRET_KEY": "django-insecure-" + "x1y2z3w4v5u6" * 6}, "SECRET_KEY", "50 random characters"),
    "a key of one letter": ({"SECRET_KEY": "a" * 60}, "SECRET_KEY", "50 random characters"),
    "any host": ({"ALLOWED_HOSTS": ["*"]}, "ALLOWED_HOSTS", "list the site's names"),
    "this machine alone": ({"ALLOWED_HOSTS": ["localhost", "127.0.0.1"]}, "ALLOWED_HOSTS", "foils.example.org"),
    "a plain origin": ({"CSRF_TRUSTED_ORIGINS": ["http://foils.example.org"]}, "CSRF_TRUSTED_ORIGINS", "https"),
    "cookies without TLS": ({"SESSION_COOKIE_SECURE": False}, "SECURE_COOKIES", "SECURE_COOKIES=1"),
    "pages without TLS": ({"SECURE_SSL_REDIRECT": False}, "SECURE_REDIRECT", "SECURE_REDIRECT=1"),
    "no HSTS": ({"SECURE_HSTS_SECONDS": 0}, "HSTS_SECONDS", "31536000"),
    "no proxy": ({"TRUSTED_PROXIES": 0}, "TRUSTED_PROXIES", "number of your own proxies"),
    "SQLite with several hosts": (
        {"DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}}},
        "DATABASE_URL",
        "use PostgreSQL",
    ),
    "a database in the clear": (
        {"DATABASES": {"default": {**POSTGRESQL, "OPTIONS": {}}}},
        "DATABASE_URL",
        "sslmode=require",
    ),
    "a database without a password": (
        {"DATABASES": {"default": {**POSTGRESQL, "PASSWORD": ""}}},
        "DATABASE_URL",
        "set a password for the user",
    ),
    "a queue without a password": ({"REDIS_URL": "redis://queue.example.org:6379/0"}, "REDIS_URL", "requirepass"),
    "a store in the clear": (
        {"STORAGES": {"default": {"OPTIONS": {"endpoint_url": "http://s3.example.org"}}}},
        "STORAGE_URL",
        "https",
    ),
    "open sign-up": ({"OIDC_SIGN_UP": True}, "OIDC_SIGN_UP", "invite people"),
    "a provider in the clear": ({"OIDC_URL": "http://id.example.org"}, "OIDC_URL", "https"),
    "any password": ({"AUTH_PASSWORD_VALIDATORS": []}, "AUTH_PASSWORD_VALIDATORS", "restore the default validators"),
    "an endpoint in the clear": (
        {"CHAT_ENDPOINTS": {"lab": {"url": "http://lab.example.org/v1"}}},
        "CHAT_LAB_URL",
        "https",
    ),
    "mail in the clear": (
        {"MAIL_IS_SET": True, "EMAIL_HOST": "mail.example.org", "EMAIL_USE_TLS": False, "EMAIL_USE_SSL": False},
        "EMAIL_URL",
        "tls=1",
    ),
    "webhooks to this machine": (
        {"WEBHOOK_NETWORKS": ("127.0.0.0/8",)},
        "WEBHOOK_NETWORKS",
        "name only the network you need",
    ),
    "figures for everybody": ({"METRICS_NETWORKS": ("0.0.0.0/0",)}, "METRICS_NETWORKS", "METRICS_TOKEN"),
    "requests without end": ({"API_RATE_LIMIT_PER_MINUTE": 0}, "API_RATE_LIMIT_PER_MINUTE", "600"),
    "jobs without end": ({"MAX_OPEN_JOBS_PER_PROJECT": 0}, "MAX_OPEN_JOBS_PER_PROJECT", "200"),
    "texts in the log": (
        {"LOGGING": {**live.LOGGING, "root": {"level": "DEBUG"}}},
        "LOG_LEVEL",
        "INFO or WARNING",
    ),
}


@pytest.fixture(autouse=True)
def sound(settings, monkeypatch, tmp_path):
    """An installation that is fit; the database of the test stays the one that is asked."""
    for name, value in SOUND.items():
        setattr(settings, name, value)
    settings.FOILWORKS_HOME = tmp_path
    name_database(monkeypatch, POSTGRESQL)


def name_database(monkeypatch, database):
    monkeypatch.setattr(live._wrapped, "DATABASES", {"default": database})


def test_a_sound_installation_passes():
    assert findings() == []


@pytest.mark.parametrize("case", BREAKS)
def test_each_unsafe_setting_is_named_with_a_fix(settings, monkeypatch, case):
    changes, name, todo = BREAKS[case]
    for setting, value in changes.items():
        if setting == "DATABASES":
            name_database(monkeypatch, value["default"])
        else:
            setattr(settings, setting, value)
    (finding,) = findings()
    assert finding.name == name
    assert todo in finding.todo
    assert finding.found


def test_files_that_other_users_can_read_are_named(tmp_path):
    for name in ("secret_key", "foilworks.sqlite3", "notes.txt"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o644)
    (tmp_path / "exports").mkdir(mode=0o755)
    (tmp_path / "exports").chmod(0o755)
    named = {finding.todo for finding in findings() if finding.name == "FOILWORKS_HOME"}
    assert named == {f"chmod go= {tmp_path / name}" for name in ("secret_key", "foilworks.sqlite3", "exports")}
    make_private(tmp_path)
    assert findings() == []


def test_a_process_closes_the_home_it_starts_in(tmp_path):
    """A home of an older version, and what a new process makes in it; a shared folder such as /tmp stays open."""
    home = tmp_path / "home"
    (home / "exports").mkdir(parents=True)
    (home / "foilworks.sqlite3").touch()
    for path in (home, home / "exports", home / "foilworks.sqlite3"):
        path.chmod(0o755)
    program = (
        "import foilworks.site.settings as s; (s.UPLOAD_ROOT / 'import-1').mkdir(); (s.EXPORT_ROOT / 'a.csv').touch()"
    )
    environment = {**os.environ, "FOILWORKS_HOME": str(home)}
    subprocess.run(
        [sys.executable, "-c", f"import os; os.umask(0o022); {program}"], env=environment, cwd=ROOT, check=True
    )
    modes = {path.relative_to(home).as_posix(): path.stat().st_mode & 0o077 for path in [home, *home.rglob("*")]}
    assert {"exports", "exports/a.csv", "foilworks.sqlite3", "secret_key", "uploads/import-1"} <= set(modes)
    assert set(modes.values()) == {0}
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert open_to_others(shared) == []


def test_passwords_on_the_sign_in_page_are_named():
    make_project(is_simulated=True, sign_in_hint={"accounts": [{"username": "demo", "role": "x", "password": "p"}]})
    (finding,) = findings()
    assert finding.name == "demo accounts"


def test_the_deployment_files_pass(tmp_path):
    """The environment of the Compose file, filled in, before a command of its own that reads it."""
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    filled = {"SITE_HOST": "foils.example.org", "MEDIA_HOST": "media.example.org"}

    def fill(match):
        return filled.get(match.group(1), "0123456789abcdefghijklmnopqrstuvwxyz" * 2)

    given = services["x-environment"]
    environment = {name: re.sub(r"\$\{(\w+)[^}]*\}", fill, str(value)) for name, value in given.items()}
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--production", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "FOILWORKS_HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    )
    assert json.loads(done.stdout) == {"ok": True, "production": []}, done.stderr


def test_the_command_prints_a_line_per_problem_and_its_status(settings):
    out = io.StringIO()
    call_command("doctor", "--production", stdout=out)
    assert out.getvalue().strip() == "ready for production"
    settings.DEBUG, settings.SECURE_HSTS_SECONDS = True, 0
    out = io.StringIO()
    with pytest.raises(SystemExit) as left:
        call_command("doctor", "--production", stdout=out)
    assert left.value.code == 1
    assert out.getvalue().splitlines() == [
        "FOILWORKS_DEBUG: is on: error pages show code and variables; unset it",
        "HSTS_SECONDS: is 0: browsers may connect without TLS; set HSTS_SECONDS=31536000",
        "not ready for production: 2 to change",
    ]
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("doctor", "--production", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    assert answer["ok"] is False
    assert [each["name"] for each in answer["production"]] == ["FOILWORKS_DEBUG", "HSTS_SECONDS"]
