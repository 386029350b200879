"""Settings as they are read at a start: what is wrong is named in one line, before anything runs.

The module is run anew in this process, in an environment of the test's own.
"""

import ast
import os
import resource
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.exceptions import ImproperlyConfigured

from foilworks.site import cli

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "foilworks" / "site" / "settings.py"
LAB = {"CHAT_ENDPOINTS": "lab", "CHAT_LAB_URL": "http://10.0.0.7:8000/v1", "CHAT_LAB_MODELS": "tiny, large"}


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setenv("FOILWORKS_HOME", str(tmp_path))
    # The settings name a folder of figures for what is imported after them.
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", os.environ["PROMETHEUS_MULTIPROC_DIR"])

    def run(**environment: str) -> dict[str, Any]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(SOURCE))

    # The settings set variables of their own, for libraries and children.
    with patch.dict(os.environ):
        yield run


def read_by(*functions: str) -> list[str]:
    """The variables that settings.py reads by one of its functions, or hands to one of
    foilworks.site.setting_values."""
    calls = [node for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    named = [(getattr(call.func, "attr", getattr(call.func, "id", "")), call.args) for call in calls]
    return sorted(args[0].value for name, args in named if name in functions and isinstance(args[0], ast.Constant))


def test_an_endpoint_has_an_address_models_a_key_and_a_price(read):
    assert read(**LAB, CHAT_LAB_KEY="secret", CHAT_LAB_PRICE="0.15 0.60 USD")["CHAT_ENDPOINTS"] == {
        "lab": {
            "url": "http://10.0.0.7:8000/v1",
            "models": ("tiny", "large"),
            "key": "secret",
            "price": (0.15, 0.6),
            "currency": "USD",
            "in_flight": 64,
        }
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"CHAT_LAB_URL": ""}, "CHAT_LAB_URL is not an address"),
        ({"CHAT_LAB_URL": "file:///etc/passwd"}, "CHAT_LAB_URL is not an address"),
        ({"CHAT_LAB_URL": "http://user:pw@host/v1"}, "CHAT_LAB_URL is not an address"),
        ({"CHAT_LAB_MODELS": " "}, "CHAT_LAB_MODELS names no model"),
        ({"CHAT_ENDPOINTS": "Lab-1"}, "is not a name; use at most 30"),
        ({"CHAT_LAB_PRICE": "cheap"}, "CHAT_LAB_PRICE is not a price"),
    ],
)
def test_each_fault_of_an_endpoint_is_named(read, change, message):
    with pytest.raises(ImproperlyConfigured, match=message):
        read(**{**LAB, **change})


WHOLE, NUMBERS = read_by("_integer", "whole_number"), read_by("_number")
URLS = ("DATABASE_URL", "REDIS_URL", "EMAIL_URL", "OIDC_URL", "STORAGE_URL", "SITE_URL")
WRONG = [
    *((name, "x", "is 'x', not a whole number; write one of at least ") for name in WHOLE),
    *((name, "2.5", "is '2.5', not a whole number; write one of at least ") for name in WHOLE),
    *((name, "-1", "is -1; write a whole number of at least ") for name in WHOLE),
    *((name, "x", "is 'x', not a number; write one ") for name in NUMBERS),
    *((name, "nan", "is 'nan', not a number; write one ") for name in NUMBERS),
    *((name, "-1", "is -1; write one ") for name in NUMBERS),
    ("FOILWORKS_LEASE_SECONDS", "0", "is 0; write one above 0, or leave it out (60)"),
    ("MEDIA_URL_SECONDS", "0", "is 0; write a whole number of at least 1, or leave it out (3600)"),
    *((name, "maybe", "is 'maybe'; write 1 to switch it on, 0 to switch it off") for name in read_by("_flag")),
    *((name, "x", "is 'x'; write one of: ") for name in read_by("_choice")),
    ("LOG_LEVEL", "loud", "is 'LOUD'; write one of: WARNING, INFO"),
    ("FOILWORKS_DEVICE", "gpu", "is 'gpu'; write auto, cpu, cuda or cuda:N"),
    *((name, "10.1.0.0/16 lab", ": 'lab' does not appear") for name in read_by("networks")),
    *((name, "10.1.2.3/16", "has host bits set; write networks such as") for name in read_by("networks")),
    *((name, "http://u:geheim@h:x/y", ": its port is not a number; write it as") for name in URLS),
    *((name, "http://[::1", ": it is not an address; write it as") for name in URLS),
    ("CHAT_LAB_URL", "http://[::1", ": it is not an address; write it as"),
    ("REDIS_URL", "http://host", "is not a Redis address; write it as redis://"),
    ("OIDC_URL", "id.example.org", "is not an address; write it as https://"),
    ("SITE_URL", "foils.example.org", "is not the address of a site; write it as https://"),
    ("SITE_URL", "https://u:geheim@foils.example.org", "is not the address of a site; write it as https://"),
    ("SITE_URL", "https://foils.example.org/foils", "is not the address of a site; write it as https://"),
    ("EMAIL_URL", "smtp://u:p@h:587?tls=maybe", ": tls is 'maybe'; write 1 to switch it on, 0 to switch it off"),
    ("EMAIL_URL", "smtp://u:p@h:587?starttls=geheim", "has an option other than tls; write it as smtp://"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_setting_is_one_line_that_says_what_to_do(read, name, value, message):
    others = {**LAB} if name.startswith("CHAT") else {}
    with pytest.raises(ImproperlyConfigured) as error:
        read(**{**others, name: value})
    assert str(error.value).startswith(name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert "geheim" not in str(error.value)


def test_every_number_setting_has_an_error_message():
    source = SOURCE.read_text(encoding="utf-8")
    assert "int(_env" not in source
    assert "float(_env" not in source
    assert {"FOILWORKS_GPU_QUOTA", "FOILWORKS_THREADS", "OMP_NUM_THREADS"} < set(WHOLE)
    assert {"FOILWORKS_LEASE_SECONDS", "FOILWORKS_CLIP_CACHE_GB"} < set(NUMBERS)


WORDS = ("LOG_LEVEL", "FOILWORKS_DEVICE", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "EMAIL_FROM")


@pytest.mark.parametrize("name", [*WHOLE, *NUMBERS, *read_by("_flag", "_choice"), *WORDS])
def test_an_empty_setting_counts_as_not_set(read, monkeypatch, name):
    monkeypatch.delenv(name, raising=False)
    without, empty = read(), read(**{name: ""})
    plain = {key: value for key, value in without.items() if isinstance(value, str | int | float | tuple | list)}
    assert {key: empty[key] for key in plain} == plain


def test_a_renamed_setting_is_read_under_its_old_name_with_a_warning(monkeypatch, capsys):
    new, old = "API_RATE_LIMIT_PER_MINUTE", "OLD_RATE_LIMIT"
    empty = "RENAMED: dict[str, str] = {}"
    source = SOURCE.read_text(encoding="utf-8")
    assert empty in source, "test the rows of the table instead"

    def read() -> int:
        variables = {"__file__": str(SOURCE)}
        exec(compile(source.replace(empty, f"RENAMED = {{{new!r}: {old!r}}}"), SOURCE, "exec"), variables)
        return variables[new]

    monkeypatch.delenv(new, raising=False)
    monkeypatch.setenv(old, "7")
    assert read() == 7
    assert capsys.readouterr().err == f"foilworks: {old} is now {new}; the old name works until 0.5\n"
    monkeypatch.setenv(new, "9")
    assert read() == 9
    assert capsys.readouterr().err == ""


def test_settings_are_accepted_in_common_spellings(read):
    found = read(
        FOILWORKS_THREADS="",
        OMP_NUM_THREADS="4,2",
        FOILWORKS_FRAME_CACHE_GB="0.5",
        SECURE_COOKIES="Yes",
        LOG_LEVEL="info",
        METRICS_NETWORKS="10.1.0.0/16, fd00::/8",
        FOILWORKS_DEVICE="cuda:1",
    )
    assert (found["FOILWORKS_THREADS"], found["FRAME_CACHE_BYTES"]) == (4, 512 * 1024**2)
    assert (found["SESSION_COOKIE_SECURE"], found["LOGGING"]["root"]["level"]) == (True, "INFO")
    assert (found["METRICS_NETWORKS"], found["FOILWORKS_DEVICE"]) == (("10.1.0.0/16", "fd00::/8"), "cuda:1")


@pytest.mark.parametrize("between", [",", ", ", " "])
def test_hosts_and_origins_have_commas_or_spaces_between_them(read, between):
    found = read(
        ALLOWED_HOSTS=between.join(["foils.example.org", "127.0.0.1"]),
        CSRF_TRUSTED_ORIGINS=between.join(["https://a.example.org", "https://b.example.org"]),
    )
    assert found["ALLOWED_HOSTS"] == ["foils.example.org", "127.0.0.1"]
    assert found["CSRF_TRUSTED_ORIGINS"] == ["https://a.example.org", "https://b.example.org"]


@pytest.fixture
def copied(monkeypatch, tmp_path):
    """A copy of the settings in a clone (with manage.py) or as pip installs them, read with no home named."""
    code = tmp_path / "code" / "foilworks" / "site" / "settings.py"
    code.parent.mkdir(parents=True)
    code.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", os.environ["PROMETHEUS_MULTIPROC_DIR"])
    monkeypatch.setenv("FOILWORKS_HOME", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path / "work")

    def run(*, clone: bool) -> dict[str, Any]:
        if clone:
            (tmp_path / "code" / "manage.py").touch()
        return runpy.run_path(str(code))

    return run


@pytest.mark.parametrize(("clone", "home"), [(True, "code/var"), (False, "data/foilworks")])
def test_an_empty_home_setting_means_the_default_home(copied, tmp_path, clone, home):
    assert copied(clone=clone)["FOILWORKS_HOME"] == tmp_path / home


@pytest.mark.parametrize(
    ("clone", "files", "counts"),
    [
        (True, ["code", "work", "data/foilworks"], "code"),
        (True, ["work"], None),
        (False, ["work", "data/foilworks", "code"], "work"),
        (False, ["data/foilworks", "code"], "data/foilworks"),
        (False, ["code"], None),
    ],
)
def test_only_one_settings_file_is_read(copied, tmp_path, clone, files, counts):
    for number, folder in enumerate(files, 100):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / ".env").write_text(f"FOILWORKS_LEASE_SECONDS={number}\n", encoding="utf-8")
    read = copied(clone=clone)
    assert read["ENV_FILE"] == (tmp_path / counts / ".env" if counts else None)
    assert read["JOB_LEASE_SECONDS"] == (100 + files.index(counts) if counts else 60)


def test_a_folder_named_env_is_ignored_and_binary_files_are_refused(copied, tmp_path):
    (tmp_path / "work" / ".env").mkdir()
    assert copied(clone=False)["ENV_FILE"] is None
    (tmp_path / "work" / ".env").rmdir()
    (tmp_path / "work" / ".env").write_bytes(b"EMAIL_FROM=\xff\n")
    with pytest.raises(ImproperlyConfigured, match=r"cannot read .*\.env .*; make it readable UTF-8, or remove it$"):
        copied(clone=False)


def test_an_empty_key_file_is_replaced_and_a_key_is_kept(read, monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    (tmp_path / "secret_key").touch(mode=0o644)
    made = read()["SECRET_KEY"]
    assert len(made) >= 50
    assert read()["SECRET_KEY"] == made
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.glob("*secret_key*")] == ["secret_key"]


def test_a_key_for_a_full_disk_leaves_no_file_and_is_stored_later(read, monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(ImproperlyConfigured, match="FOILWORKS_HOME cannot store its key"):
            read()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.glob("*secret_key*"))
    assert len(read()["SECRET_KEY"]) >= 50


@pytest.mark.parametrize("place", ["secret_key", "uploads", "static", "run"])
def test_an_unwritable_home_gives_one_line(read, monkeypatch, tmp_path, place):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    # For root as for anybody: what is to be a file is a folder, and the other way round.
    if place == "secret_key":
        (tmp_path / place).mkdir()
    else:
        (tmp_path / place).write_text("")
    with pytest.raises(ImproperlyConfigured, match=r"FOILWORKS_HOME cannot .*; choose a folder you can write to$"):
        read()


@pytest.mark.parametrize(
    ("query", "wanted"), [("", False), ("?tls=1", True), ("?tls=true", True), ("?tls", True), ("?tls=0", False)]
)
def test_mail_uses_tls_if_its_address_says_so(read, query, wanted):
    assert read(EMAIL_URL=f"smtp://u:p@mail.example.org:587{query}")["EMAIL_USE_TLS"] is wanted


def test_the_command_line_ends_in_that_line(tmp_path):
    own = {**os.environ, "FOILWORKS_HOME": str(tmp_path), "FOILWORKS_GPU_QUOTA": "x"}
    program = [str(Path(sys.executable).with_name(cli.NAME)), "doctor"]
    done = subprocess.run(program, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "foilworks: the settings are wrong: FOILWORKS_GPU_QUOTA is 'x', not a whole number; "
        "write one of at least 0, or leave it out (8)\n"
    )


def test_a_file_of_variables_is_read_and_nothing_in_it_evaluated(read, tmp_path, monkeypatch):
    file = tmp_path / "file"
    lines = ["# c", "", "SECRET_KEY=a$b&c`d`'", "SITE_URL='https://a.example.org'", 'EMAIL_FROM="x"', "HF_HOME = /m "]
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    for name in ("SECRET_KEY", "SITE_URL", "EMAIL_FROM", "HF_HOME"):
        # Set first: what a test deletes without having had it is not taken back after it.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    found = read(FOILWORKS_ENVIRONMENT=str(file))
    assert [found[name] for name in ("SECRET_KEY", "SITE_URL", "DEFAULT_FROM_EMAIL")] == [
        "a$b&c`d`'",
        "https://a.example.org",
        "x",
    ]
    # For libraries and children; the environment comes first.
    assert os.environ["HF_HOME"] == "/m"
    for name in ("SECRET_KEY", "SITE_URL", "EMAIL_FROM", "HF_HOME"):
        monkeypatch.setenv(name, "")
    assert read(SECRET_KEY="mine")["SECRET_KEY"] == "mine"


@pytest.mark.parametrize(("text", "line"), [("A=1\nsecret word\n", 2), ("=x", 1), ("1A=x", 1), ("A B=x", 1)])
def test_a_line_without_a_name_is_refused_without_its_words(read, tmp_path, text, line):
    (tmp_path / "file").write_text(text)
    with pytest.raises(ImproperlyConfigured, match=f"file, line {line}: write it as NAME=value") as error:
        read(FOILWORKS_ENVIRONMENT=str(tmp_path / "file"))
    assert "secret" not in str(error.value)


def test_models_from_the_hub_are_below_the_home_unless_the_user_has_a_cache(read, tmp_path, monkeypatch):
    monkeypatch.delenv("HF_HOME", raising=False)
    assert read(XDG_CACHE_HOME=str(tmp_path / "none"))["CACHE_ROOT"] == tmp_path / "cache"
    assert os.environ.pop("HF_HOME") == str(tmp_path / "cache" / "huggingface")
    (tmp_path / "own" / "huggingface").mkdir(parents=True)
    read(XDG_CACHE_HOME=str(tmp_path / "own"))
    assert "HF_HOME" not in os.environ
