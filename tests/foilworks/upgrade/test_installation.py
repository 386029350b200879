"""An installation of 0.3.0, updated to today's version: its people, programs, links and jobs work as before.

The light tests use SQLite and send each request once. `make test-full` sends every request as every person, on both
engines. docs/decisions/0065-compatibility.md lists the promises and explains the record.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.foilworks.upgrade import removed
from tests.foilworks.upgrade.record import ENGINES, Installation, recorded, restore, rows
from tests.postgres import running_postgres

pytestmark = pytest.mark.slow(seconds=15)
LIGHT = ("pages", "few_operations", "entrances", "audit", "values", "client", "few_jobs")
EVERYTHING = ("addresses", "operations", "entrances", "audit", "values", "names_of_jobs", "client", "jobs")
COUNTS = ("n_items", "n_valid", "n_unanimous", "n_valid_proficiency", "n_both", "n_lexical_items")
MEASURES = ("js_all", "js_valid", "alpha_all", "alpha_valid")


@pytest.fixture(scope="module")
def updated(tmp_path_factory) -> Installation:
    return update(restore(tmp_path_factory.mktemp("light") / "home"))


@pytest.fixture(scope="module", params=ENGINES)
def everywhere(request, tmp_path_factory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlite":
        yield update(restore(folder / "home"))
        return
    with running_postgres() as server:
        yield update(restore(folder / "home", server.make("updated")))


def update(installation: Installation) -> Installation:
    """Run `foilworks migrate`. It makes a backup if there is something to migrate."""
    backup = installation.foilworks("migrate")["backup"]
    assert backup is None or Path(backup).exists()
    return installation


def keeps_its_rows(installation: Installation) -> None:
    counts = recorded(installation.engine)["answers"]["rows"]
    # Django adds rows about migrations and models.
    tables = counts.keys() - {"django_migrations", "django_content_type", "auth_permission"} - removed.TABLES
    counts_today = {table: rows(installation, f'SELECT count(*) FROM "{table}"')[0][0] for table in tables}
    assert counts_today == {table: counts[table] for table in tables}


def has_no_violations(installation: Installation) -> None:
    assert recorded(installation.engine)["answers"]["violations"] == []
    assert installation.foilworks("check")["violations"] == []


def numbers_are_the_same(installation: Installation, folder: Path) -> None:
    """Compare the validation report and the release's content; verify the archive that visitors had."""
    record = recorded(installation.engine)
    answers, sample = record["answers"], record["installation"]["sample"]
    reports = installation.foilworks("report", "validation", "--project", "demo"), answers["validation"]
    for now, before in zip(*([report["overall"], *report["subtests"]] for report in reports), strict=True):
        assert {key: now[key] for key in COUNTS} == {key: before[key] for key in COUNTS}
        assert [now[key] for key in MEASURES] == pytest.approx([before[key] for key in MEASURES], abs=1e-12)
    release = sample["numbers"]["release"]
    installation.foilworks("export", "foilworks", "--project", "demo", "--release", release, "--out", folder / "now")
    manifest = json.loads((folder / "now" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["content_hash"] == answers["content_hash"]
    with zipfile.ZipFile(installation.home / "media" / sample["archive"]) as archive:
        archive.extractall(folder / "before")
    (export,) = (folder / "before").iterdir()
    assert installation.foilworks("verify", export)["ok"] is True


def test_an_update_keeps_every_row_and_number(updated, tmp_path):
    keeps_its_rows(updated)
    has_no_violations(updated)
    numbers_are_the_same(updated, tmp_path)


@pytest.mark.full
def test_all_pages_show_the_same_after_an_update(updated):
    assert updated.inside(*LIGHT) == {part: [] for part in LIGHT}


@pytest.mark.full
def test_the_same_on_both_engines(everywhere, tmp_path):
    keeps_its_rows(everywhere)
    has_no_violations(everywhere)
    numbers_are_the_same(everywhere, tmp_path)
    assert everywhere.inside(*EVERYTHING) == {part: [] for part in EVERYTHING}
