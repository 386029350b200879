"""`split` becomes `disputed` in stored rows, and back, on both engines."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path

import psycopg
import pytest
from django.apps import apps
from django.db import connection

from foilworks.core.corpus.models import Foil, Item
from tests.commands import ROOT, foilworks
from tests.factories import make_item, make_project, make_subtest
from tests.postgres import running_postgres

SCHEMA = import_module("foilworks.core.corpus.migrations.0011_disputed_choices").Migration
DATA = import_module("foilworks.core.corpus.migrations.0012_split_becomes_disputed").Migration
((_, BEFORE),) = SCHEMA.dependencies
AFTER = "0012"
STATES = "SELECT i.key, i.state, f.verdict FROM corpus_item i JOIN corpus_foil f ON f.item_id = i.id"
LATE = "UPDATE corpus_foil SET verdict = 'split' WHERE verdict = 'disputed'"
# A disputed item, and one that is valid without its disputed foil, beside others.
ROWS = """
import django
django.setup()
from foilworks.core.corpus.models import Foil
from tests.factories import make_item, make_project, make_subtest
subtest = make_subtest(make_project())
for state, verdict in (("disputed", "disputed"), ("valid", "disputed"), ("invalid", "invalid"), ("retracted", "valid")):
    Foil.objects.filter(item=make_item(subtest, key=f"{state}-{verdict}", state=state)).update(verdict=verdict)
"""
NOW = {
    ("disputed-disputed", "disputed", "disputed"),
    ("valid-disputed", "valid", "disputed"),
    ("invalid-invalid", "invalid", "invalid"),
    ("retracted-valid", "retracted", "valid"),
}
THEN = {tuple("split" if word == "disputed" else word for word in row) for row in NOW}


def environment(home: Path, url: str = "") -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
    also = {"DATABASE_URL": url} if url else {}
    return {**inherited, "FOILWORKS_HOME": str(home), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings", **also}


def goes_back_and_forth(settings: Mapping[str, str], execute: Callable[[str], list[tuple]]) -> None:
    """`execute(sql)`: the rows that another connection finds."""

    def migrate(*target: str) -> set[tuple]:
        done = foilworks(settings, "migrate", "--no-backup", "--json", *target)
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout) == {"backup": None}
        return set(execute(STATES))

    migrate()
    made = subprocess.run([sys.executable, "-c", ROWS], env=settings, cwd=ROOT, capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    assert set(execute(STATES)) == NOW
    assert migrate("corpus", BEFORE) == THEN
    # Not the later ones again: each of these commands would take longer with every new migration.
    assert migrate("corpus", AFTER) == NOW
    # What a process of before 0.3.0 stored after the migration is renamed in the same way.
    execute(LATE)
    assert set(execute(STATES)) != NOW
    migrate("corpus", "0011")
    assert migrate("corpus", AFTER) == NOW


# What both ways do to rows is tested below without the ten commands.
@pytest.mark.full
@pytest.mark.slow(seconds=10)
def test_stored_rows_get_the_new_name_and_back(tmp_path):
    def execute(sql: str) -> list[tuple]:
        with closing(sqlite3.connect(tmp_path / "home" / "foilworks.sqlite3")) as database, database:
            return database.execute(sql).fetchall()

    goes_back_and_forth(environment(tmp_path / "home"), execute)


@pytest.mark.full
@pytest.mark.slow(seconds=15)
def test_stored_rows_get_the_new_name_on_postgresql_too(tmp_path):
    with running_postgres() as server:
        url = server.make("older")

        def execute(sql: str) -> list[tuple]:
            with psycopg.connect(url) as database:
                found = database.execute(sql)
                return found.fetchall() if found.description else []

        goes_back_and_forth(environment(tmp_path / "home", url), execute)


@pytest.mark.django_db
def test_each_table_is_one_statement_in_a_transaction_of_its_own(django_assert_num_queries):
    """However many rows: nothing is read, and the lock on one table is let go before the other is written."""
    subtest = make_subtest(make_project())
    for _ in range(3):
        Foil.objects.filter(item=make_item(subtest, state="split")).update(verdict="split")
    assert not DATA.atomic
    editor = connection.schema_editor()
    for operation in DATA.operations:
        assert operation.atomic
        with django_assert_num_queries(1):
            operation.code(apps, editor)
    assert set(Item.objects.values_list("state", flat=True)) == {"disputed"}
    assert set(Foil.objects.values_list("verdict", flat=True)) == {"disputed"}
    for operation in DATA.operations:
        operation.reverse_code(apps, editor)
    assert set(Item.objects.values_list("state", flat=True)) == {"split"}
    assert set(Foil.objects.values_list("verdict", flat=True)) == {"split"}
