"""An installation of 4fafc4b, updated to today's version: its people, programs, links and jobs notice nothing.

The light tests take SQLite and ask each thing once. `make test-full` asks everything as everybody, on both engines.
What is promised until when, and how the record is made: docs/decisions/0065-compatibility.md.
"""

import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    assert Path(installation.foilworks("migrate")["backup"]).exists()
    return installation


def said_of(installation: Installation) -> dict:
    return recorded("postgresql" if installation.url else "sqlite")["said"]


def keeps_its_rows(installation: Installation) -> None:
    said = said_of(installation)["rows"]
    # What Django itself notes of migrations and models grows.
    tables = said.keys() - {"django_migrations", "django_content_type", "auth_permission"}
    counted = {table: rows(installation, f'SELECT count(*) FROM "{table}"')[0][0] for table in tables}
    assert counted == {table: said[table] for table in tables}


def numbers_are_the_same(installation: Installation, folder: Path) -> None:
    """Violations, the validation report, the release's content; the archive that visitors had is verified."""
    kept = recorded("postgresql" if installation.url else "sqlite")
    said, sample = kept["said"], kept["world"]["sample"]
    found = Counter(one["row"] for one in installation.foilworks("check", status=1)["violations"])
    assert found == Counter(said["violations"])
    report = installation.foilworks("report", "validation", "--project", "demo")
    then = said["validation"]
    for now, before in zip([report["overall"], *report["subtests"]], [then["overall"], *then["subtests"]], strict=True):
        assert {key: now[key] for key in COUNTS} == {key: before[key] for key in COUNTS}
        assert [now[key] for key in MEASURES] == pytest.approx([before[key] for key in MEASURES], abs=1e-12)
    release = sample["numbers"]["release"]
    installation.foilworks("export", "foilworks", "--project", "demo", "--release", release, "--out", folder / "now")
    manifest = json.loads((folder / "now" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["content_hash"] == said["content_hash"]
    with zipfile.ZipFile(installation.home / "media" / sample["archive"]) as archive:
        archive.extractall(folder / "before")
    (export,) = (folder / "before").iterdir()
    assert installation.foilworks("verify", export)["ok"] is True


def test_an_update_keeps_every_row_and_number(updated, tmp_path):
    keeps_its_rows(updated)
    numbers_are_the_same(updated, tmp_path)


def test_all_pages_show_the_same_after_an_update(updated):
    assert updated.inside(*LIGHT) == {part: [] for part in LIGHT}


@pytest.mark.full
def test_the_same_on_both_engines(everywhere, tmp_path):
    keeps_its_rows(everywhere)
    numbers_are_the_same(everywhere, tmp_path)
    assert everywhere.inside(*EVERYTHING) == {part: [] for part in EVERYTHING}
