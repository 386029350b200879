"""Tables emptied after a test that commits. Django's flush empties all of them, writes types and permissions of all
models again, and on PostgreSQL makes each table a new file: here, those with rows are emptied, and the rows of Django
that are the same after every test stay.
"""

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

# Written by migrate, of the models alone.
KEPT = {"django_content_type", "auth_permission", "django_migrations"}


def empty_after_committing_tests() -> None:
    def emptied(case: TransactionTestCase) -> None:
        for name in case._databases_names(include_mirrors=False):
            empty(connections[name])

    TransactionTestCase._fixture_teardown = emptied


def empty(database: BaseDatabaseWrapper) -> None:
    """In one transaction: foreign keys are looked at when it ends."""
    quoted = {name: database.ops.quote_name(name) for name in database.introspection.table_names() if name not in KEPT}
    asked = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {table})" for name, table in quoted.items())
    with transaction.atomic(using=database.alias), database.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(asked))
        for (name,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {quoted[name]}")
