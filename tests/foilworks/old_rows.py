"""Run as a program: copies the rows of an old SQLite database into an empty one, both at the old version's tables.

`python old_rows.py OLD.sqlite3`, with DATABASE_URL naming the empty database: it is brought to the migrations that the
old one names as made, and gets every row, so that an upgrade can be tried on another engine than the rows were made on.
"""

import sqlite3
import sys
from collections.abc import Iterator

import django


def main(old: str) -> None:
    django.setup()
    from django.core.management.color import no_style
    from django.db import connection, connections, transaction
    from django.db.migrations.executor import MigrationExecutor

    connections.databases["old"] = {**connections.databases["default"], "ENGINE": "django.db.backends.sqlite3"}
    connections.databases["old"].update(NAME=old, OPTIONS={}, HOST="", USER="", PASSWORD="", PORT="")
    executor = MigrationExecutor(connection)
    targets = list(_leaves(old, set(executor.loader.graph.nodes), executor.loader.graph))
    executor.migrate(targets)
    apps = executor.loader.project_state(targets).apps
    there = set(connection.introspection.table_names())
    models = [m for m in apps.get_models(include_auto_created=True) if m._meta.db_table in there]
    with transaction.atomic():
        for model in models:
            model._base_manager.all().delete()
        for model in models:
            _copy(model)
    with connection.cursor() as cursor:
        for line in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(line)


def _leaves(old: str, known: set, graph) -> Iterator[tuple[str, str]]:
    """The last migration made of each app."""
    with sqlite3.connect(old) as database:
        made = {tuple(row) for row in database.execute("SELECT app, name FROM django_migrations")} & known
    for key in sorted(made):
        if not any(child.key in made and child.key[0] == key[0] for child in graph.node_map[key].children):
            yield key


def _copy(model) -> None:
    rows = list(model._base_manager.using("old").all())
    for row in rows:
        row._state.db = "default"
    model._base_manager.using("default").bulk_create(rows, batch_size=500)


if __name__ == "__main__":
    main(sys.argv[1])
