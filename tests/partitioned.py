"""A plugin of pytest (`-p tests.partitioned`): the tests run on a PostgreSQL whose audit trail and scores are
partitioned by docs/examples/partition.sql."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "docs/examples/partition.sql"


@pytest.fixture(autouse=True, scope="session")
def partitioned(django_db_setup: None, django_db_blocker: object) -> None:
    with django_db_blocker.unblock():
        partition()


def partition() -> None:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SCRIPT.read_text(encoding="utf-8"))


def parts_of(table: str) -> int:
    """Into how many partitions the table falls."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_inherits WHERE inhparent = %s::regclass", [table])
        return cursor.fetchone()[0]
