"""Databases that older versions made, with people's work in every stage: `foilworks migrate` and go on.

`upgrade/<tag>.sql.gz` and `<tag>.json` come from scripts/database_of_a_tag.py.
"""

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.postgres import running_postgres

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = Path(__file__).parent / "upgrade"
TAGS = sorted(path.name.removesuffix(".sql.gz") for path in KEPT.glob("*.sql.gz"))
SCORES = "SELECT id, candidate_id, filter, score, passed, detail FROM generation_filterscore ORDER BY id"
OWN_RUN = (
    "generation_filterscore s JOIN generation_candidate c ON c.id = s.candidate_id "
    "JOIN generation_candidategroup g ON g.id = c.group_id AND g.run_id = s.run_id"
)
COUNTS = ("n_items", "n_valid", "n_unanimous", "n_valid_proficiency", "n_both", "n_lexical_items")
MEASURES = ("js_all", "js_valid", "alpha_all", "alpha_valid")


class Installation:
    def __init__(self, home: Path, url: str = "") -> None:
        self.home = home
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
        self.environment = {**inherited, "FOILWORKS_HOME": str(home), "DJANGO_SETTINGS_MODULE": "foilworks.settings"}
        if url:
            self.environment["DATABASE_URL"] = url

    def run(self, *command: object) -> str:
        done = subprocess.run(
            [str(part) for part in command], env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def foilworks(self, *arguments: object) -> dict:
        return json.loads(self.run(Path(sys.executable).with_name("foilworks"), *arguments, "--json"))


def old_database(tag: str, path: Path, home: Path) -> Path:
    """The tag's rows. Of its clips nothing but the names is kept: they were never part of a database."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, gzip.open(KEPT / f"{tag}.sql.gz", "rt") as dump:
        database.executescript(dump.read())
        clips = [name for (name,) in database.execute("SELECT file FROM corpus_video WHERE file != ''")]
    for name in clips:
        clip = home / "media" / name
        clip.parent.mkdir(parents=True, exist_ok=True)
        clip.touch()
    return path


def goes_on(installation: Installation, tag: str) -> None:
    """What the old version said of its project the new one says too, and work goes on."""
    said = json.loads((KEPT / f"{tag}.json").read_text(encoding="utf-8"))
    assert installation.foilworks("check")["violations"] == []
    report = installation.foilworks("report", "validation", "--project", "demo")
    for now, then in zip(
        [report["overall"], *report["subtests"]],
        [said["validation"]["overall"], *said["validation"]["subtests"]],
        strict=True,
    ):
        assert {key: now[key] for key in COUNTS} == {key: then[key] for key in COUNTS}
        assert [now[key] for key in MEASURES] == pytest.approx([then[key] for key in MEASURES], abs=1e-12)
    out = installation.home / "out"
    release = said["numbers"]["release"]
    installation.foilworks("export", "foilworks", "--project", "demo", "--release", release, "--out", out)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["content_hash"] == said["content_hash"]
    assert installation.foilworks("verify", out)["ok"] is True
    captions = installation.home / "more.jsonl"
    captions.write_text('{"id": "more", "video": "more.mp4", "caption": "a man folds a shirt."}\n', encoding="utf-8")
    assert installation.foilworks("import", "jsonl", captions, "--project", "demo")["errors"] == []
    assert installation.foilworks("check")["ok"] is True


def test_there_is_a_database_of_every_tag_that_was_given_out():
    assert "v0.1.0" in TAGS
    assert all((KEPT / f"{tag}.json").is_file() for tag in TAGS)


@pytest.mark.parametrize("tag", TAGS)
def test_a_database_of_an_older_version_is_copied_migrated_and_goes_on(tag, tmp_path):
    installation = Installation(tmp_path / "home")
    database = old_database(tag, installation.home / "foilworks.sqlite3", installation.home)
    with closing(sqlite3.connect(database)) as before:
        votes = before.execute("SELECT id, choice, state, person_id FROM annotation_vote ORDER BY id").fetchall()
        scores = before.execute(SCORES).fetchall()
    assert scores
    copy = Path(installation.foilworks("migrate")["backup"])
    assert copy.exists()
    with closing(sqlite3.connect(database)) as after:
        assert after.execute("SELECT id, choice, state, person_id FROM annotation_vote ORDER BY id").fetchall() == votes
        assert after.execute(SCORES).fetchall() == scores
        # A score names the run of its candidate.
        assert after.execute(f"SELECT count(*) FROM {OWN_RUN}").fetchall() == [(len(scores),)]
    goes_on(installation, tag)


@pytest.mark.parametrize("tag", TAGS)
def test_it_does_on_postgresql_as_well(tag, tmp_path):
    with running_postgres() as server:
        installation = Installation(tmp_path / "home", server.make("older"))
        old = old_database(tag, tmp_path / "old.sqlite3", installation.home)
        installation.run(sys.executable, Path(__file__).with_name("old_rows.py"), old)
        assert Path(installation.foilworks("migrate")["backup"]).exists()
        goes_on(installation, tag)
