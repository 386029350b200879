"""Databases that older versions made, with people's work in every stage: `foilworks migrate` and go on.

`upgrade/<tag>.sql.gz` and `<tag>.json` come from scripts/database_of_a_tag.py. Both ways to today's tables, through the
migrations and from the models at once (foilworks/first_tables.py), have to end at the same ones.
"""

import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.commands import foilworks
from tests.postgres import running_postgres

pytestmark = pytest.mark.slow(seconds=18)
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
        done = foilworks(self.environment, *arguments, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


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


def sqlite_tables(path: Path) -> dict[str, list[str]]:
    """Table -> what its definition lists, and its indexes, in SQLite's words; sorted: columns added later come last."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT type, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    tables: dict[str, list[str]] = {}
    for kind, table, sql in rows:
        words = sql.partition("(")[2].rpartition(")")[0] if kind == "table" else sql
        tables.setdefault(table, []).extend(_parts(words) if kind == "table" else [words])
    return {table: sorted(parts) for table, parts in tables.items()}


def _parts(words: str) -> list[str]:
    """Split at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for word in re.split(r"([(),])", words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += word
    return [part.strip() for part in parts]


# Of Django's own table between groups and permissions the migrations make the number larger than its model does.
POSTGRESQL_TABLES = """
SELECT table_name, concat_ws(' ', column_name, data_type, character_maximum_length, is_nullable, column_default,
                             is_identity, identity_generation, collation_name)
FROM information_schema.columns
WHERE table_schema = 'public' AND (table_name, column_name) != ('auth_group_permissions', 'id')
UNION ALL SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE conrelid != 0 AND connamespace = 'public'::regnamespace
ORDER BY 1, 2
"""


def postgresql_tables(url: str) -> list[tuple[str, str]]:
    with psycopg.connect(url) as connection:
        return connection.execute(POSTGRESQL_TABLES).fetchall()


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
    fresh = Installation(tmp_path / "fresh")
    fresh.foilworks("migrate")
    assert sqlite_tables(database) == sqlite_tables(fresh.home / "foilworks.sqlite3")


@pytest.mark.full
@pytest.mark.parametrize("tag", TAGS)
def test_it_does_on_postgresql_as_well(tag, tmp_path):
    with running_postgres() as server:
        installation = Installation(tmp_path / "home", server.make("older"))
        old = old_database(tag, tmp_path / "old.sqlite3", installation.home)
        installation.run(sys.executable, Path(__file__).with_name("old_rows.py"), old)
        assert Path(installation.foilworks("migrate")["backup"]).exists()
        goes_on(installation, tag)
        fresh = Installation(tmp_path / "fresh", server.make("fresh"))
        fresh.foilworks("migrate")
        assert postgresql_tables(server.url("older")) == postgresql_tables(server.url("fresh"))
