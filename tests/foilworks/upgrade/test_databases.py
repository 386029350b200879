"""An updated database has the tables of a new one; an older one than 0.3.0 is refused in one line."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db.migrations.loader import MigrationLoader
from django.test import override_settings

from foilworks.site.databases.database_version import LAST_MIGRATIONS
from tests.commands import foilworks
from tests.foilworks.upgrade.record import ENGINES, Installation, restore, rows
from tests.postgres import running_postgres

pytestmark = pytest.mark.slow(seconds=12)
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
# A condition that went through a dump has its casts and brackets in other places.
NOISE = re.compile(r"::(character varying|text)(\[\])?|[()\[\]]")


def sqlite_tables(path: Path) -> dict[str, list[str]]:
    """Table -> what its definition lists, and its indexes, in SQLite's words; sorted: columns added later come last."""
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("SELECT type, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    tables: dict[str, list[str]] = {}
    for kind, table, sql in found:
        words = sql.partition("(")[2].rpartition(")")[0] if kind == "table" else sql
        tables.setdefault(table, []).extend(_parts(words) if kind == "table" else [words])
    return {table: sorted(parts) for table, parts in tables.items()}


def _parts(words: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    parts, depth = [""], 0
    for word in re.split(r"([(),])", words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += word
    return [part.strip() for part in parts]


def tables_of(installation: Installation) -> object:
    if installation.url:
        with psycopg.connect(installation.url) as connection:
            found = connection.execute(POSTGRESQL_TABLES).fetchall()
        return [(table, NOISE.sub("", definition)) for table, definition in found]
    return sqlite_tables(installation.home / "foilworks.sqlite3")


def by_migrations(installation: Installation) -> Installation:
    """Create the tables of an empty database by the migrations: with this option, they are not made from models."""
    installation.foilworks("migrate", "--run-syncdb")
    return installation


def test_an_updated_database_has_the_tables_of_a_fresh_one(tmp_path):
    updated, fresh = restore(tmp_path / "old" / "home"), Installation(tmp_path / "fresh")
    updated.foilworks("migrate")
    fresh.foilworks("migrate")
    assert tables_of(updated) == tables_of(fresh)


@pytest.mark.full
@pytest.mark.parametrize("engine", ENGINES)
def test_models_migrations_and_an_update_create_the_same_tables(engine, tmp_path):
    homes = {name: tmp_path / name / "home" for name in ("updated", "models", "migrations")}
    if engine == "sqlite":
        _compare(homes, dict.fromkeys(homes, ""))
        return
    with running_postgres() as server:
        _compare(homes, {name: server.make(name) for name in homes})


def _compare(homes: dict[str, Path], urls: dict[str, str]) -> None:
    updated = restore(homes["updated"], urls["updated"])
    updated.foilworks("migrate")
    models = Installation(homes["models"], urls["models"])
    models.foilworks("migrate")
    migrations = by_migrations(Installation(homes["migrations"], urls["migrations"]))
    assert tables_of(updated) == tables_of(models)
    assert tables_of(migrations) == tables_of(models)


def test_a_backup_of_0_3_0_is_restored_and_updated(tmp_path):
    installation = restore(tmp_path / "home")
    names = "SELECT name FROM projects_project ORDER BY id"
    before = rows(installation, names)
    backup = Path(installation.foilworks("backup")["out"])
    installation.foilworks("migrate")
    with closing(sqlite3.connect(installation.home / "foilworks.sqlite3")) as database, database:
        database.execute("UPDATE projects_project SET name = 'lost'")
    installation.foilworks("restore", backup)
    assert rows(installation, names) == before
    assert installation.foilworks("migrate")["backup"] is None, "restore has updated the tables"
    manifest = json.loads((backup / "manifest.json").read_text(encoding="utf-8"))
    manifest["migrations"].remove("corpus.0020_votes_that_stop")
    (backup / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    done = foilworks(installation.environment, "restore", backup)
    assert done.returncode == 1
    problem = "the database is older than 0.3.0, or its update stopped (it lacks corpus.0020_votes_that_stop)"
    assert f"{problem}; restore it with version 0.3.0" in done.stderr


def test_the_oldest_database_has_the_migrations_of_the_recorded_one(tmp_path):
    applied = set(rows(restore(tmp_path / "home"), "SELECT app, name FROM django_migrations"))
    # Tables of tests are made from the models: until then the settings name no migrations.
    with override_settings(MIGRATION_MODULES={}):
        graph = MigrationLoader(None).graph
    required = {key for last in LAST_MIGRATIONS.items() for key in graph.forwards_plan(last)}
    assert required <= applied
    assert {key for key in applied & graph.nodes.keys() if key[0] in LAST_MIGRATIONS} <= required


# As a version before 0.3.0 left it, an update to 0.3.0 that stopped, or 0.1.0.
@pytest.mark.parametrize(
    ("missing", "names"),
    [
        ("app = 'annotation' AND name >= '0026'", "annotation.0026_item_comments"),
        ("app = 'corpus' AND name >= '0011' OR app = 'jobs'", "corpus.0020_votes_that_stop, jobs.0001_squashed_0_2"),
    ],
)
def test_every_command_refuses_a_database_before_0_3_0(tmp_path, missing, names):
    installation = restore(tmp_path / "home")
    with closing(sqlite3.connect(installation.home / "foilworks.sqlite3")) as database, database:
        database.execute(f"DELETE FROM django_migrations WHERE {missing}")
    for command in (["migrate"], ["migrate", "--plan"], ["up", "--port", "0"]):
        done = foilworks(installation.environment, *command)
        assert done.returncode == 1
        assert f"the database is older than 0.3.0, or its update stopped (it lacks {names})" in done.stderr
        assert "update to version 0.3.0 first" in done.stderr
        assert "foilworks restore" in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (installation.home / "backups").exists()
    checks = installation.foilworks("doctor", status=1)["checks"]
    (check,) = [check for check in checks if check["name"] == "database"]
    assert check["state"] == "broken"
    assert check["todo"].startswith("update to version 0.3.0 first")
