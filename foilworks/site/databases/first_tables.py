"""Create the tables of an empty database from the models at once.

The migrations lead to the same tables (tests/foilworks/upgrade/test_databases.py compares them), but take twenty times
as long at every first start. Migrations are for databases that older versions created.
"""

from django.apps import apps
from django.db import router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from foilworks.site.databases.database_version import known_migrations


def has_none(connection: BaseDatabaseWrapper) -> bool:
    return not connection.introspection.table_names()


def make_all(connection: BaseDatabaseWrapper) -> None:
    """Create every table and record every migration as applied, in one transaction.

    Django takes a squashed migration for applied only if all migrations that it replaces are recorded.
    """
    loader = MigrationLoader(connection)
    recorder = MigrationRecorder(connection)
    with connection.schema_editor() as editor:
        editor.create_model(recorder.Migration)
        for label in sorted(loader.migrated_apps):
            for model in router.get_migratable_models(apps.get_app_config(label), connection.alias):
                if model._meta.can_migrate(connection):
                    editor.create_model(model)
        applied_migrations = sorted(known_migrations())
        recorder.migration_qs.bulk_create(recorder.Migration(app=app, name=name) for app, name in applied_migrations)
