"""The tables of a database that has none, made from the models at once.

The way through all migrations ends at the same tables (tests/foilworks/test_upgrade.py holds both to each other) and
takes ten times as long, at everybody's first start. Migrations are for databases that older versions made.
"""

from django.apps import apps
from django.db import router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def has_none(connection: BaseDatabaseWrapper) -> bool:
    return not connection.introspection.table_names()


def make_all(connection: BaseDatabaseWrapper) -> None:
    """Every table, and the record that every migration has been made, in one transaction."""
    loader = MigrationLoader(connection)
    recorder = MigrationRecorder(connection)
    with connection.schema_editor() as editor:
        editor.create_model(recorder.Migration)
        for label in sorted(loader.migrated_apps):
            for model in router.get_migratable_models(apps.get_app_config(label), connection.alias):
                if model._meta.can_migrate(connection):
                    editor.create_model(model)
        made = [recorder.Migration(app=app, name=name) for app, name in sorted(loader.disk_migrations)]
        recorder.migration_qs.bulk_create(made)
