"""`split` becomes `disputed` in the rows of an older database, and back, on both engines."""

import sqlite3
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import psycopg
import pytest
from django.apps import apps
from django.db import connection

from corpus.models import Foil, Item
from tests.factories import make_item, make_project, make_subtest
from tests.foilworks.test_upgrade import TAGS, Installation, old_database
from tests.postgres import running_postgres

SCHEMA = import_module("corpus.migrations.0011_disputed_choices").Migration
DATA = import_module("corpus.migrations.0012_split_becomes_disputed").Migration
((_, BEFORE),) = SCHEMA.dependencies
STATES = "SELECT id, state FROM corpus_item ORDER BY id"
VERDICTS = "SELECT id, verdict FROM corpus_foil ORDER BY id"
# Of the old database: an item with its foil, and a foil of an item that is valid without it.
MADE_SPLIT = (
    "UPDATE corpus_item SET state = 'split' WHERE id IN (SELECT id FROM corpus_item WHERE state = 'valid' LIMIT 3)",
    "UPDATE corpus_foil SET verdict = 'split' WHERE item_id IN (SELECT id FROM corpus_item WHERE state = 'split')",
    "UPDATE corpus_foil SET verdict = 'split' WHERE id = (SELECT max(id) FROM corpus_foil)",
)


LATE = "UPDATE corpus_foil SET verdict = 'split' WHERE id = (SELECT max(id) FROM corpus_foil)"


def goes_forth_and_back(installation: Installation, told, execute) -> None:
    """`told()`: (states, verdicts) by id, as another connection reads them; `execute(sql)` writes as one."""
    before = told()
    assert [list(rows.values()).count("split") for rows in before] == [3, 4]
    after = tuple({pk: "disputed" if word == "split" else word for pk, word in rows.items()} for rows in before)
    installation.foilworks("migrate", "--no-backup")
    assert told() == after
    # What an old process stored late is renamed as docs/how-to/migrations.md says.
    execute(LATE)
    assert told() != after
    installation.foilworks("migrate", "--no-backup", "corpus", "0011")
    installation.foilworks("migrate", "--no-backup")
    assert told() == after
    installation.foilworks("migrate", "--no-backup", "corpus", BEFORE)
    assert told() == before


@pytest.mark.slow(seconds=25)
def test_rows_of_an_older_database_get_the_new_word_and_back(tmp_path):
    installation = Installation(tmp_path / "home")
    path = old_database(TAGS[0], installation.home / "foilworks.sqlite3", installation.home)
    write(path, *MADE_SPLIT)

    def told():
        with closing(sqlite3.connect(path)) as database:
            return dict(database.execute(STATES).fetchall()), dict(database.execute(VERDICTS).fetchall())

    goes_forth_and_back(installation, told, lambda sql: write(path, sql))


@pytest.mark.slow(seconds=30)
def test_they_do_on_postgresql_as_well(tmp_path):
    with running_postgres() as server:
        url = server.make("older")
        installation = Installation(tmp_path / "home", url)
        old = old_database(TAGS[0], tmp_path / "old.sqlite3", installation.home)
        write(old, *MADE_SPLIT)
        installation.run(sys.executable, Path(__file__).with_name("old_rows.py"), old)

        def told():
            with psycopg.connect(url) as database:
                return dict(database.execute(STATES).fetchall()), dict(database.execute(VERDICTS).fetchall())

        goes_forth_and_back(installation, told, lambda sql: server.sql(sql, "older"))


def write(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


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
