"""Whether the database is new enough for the squashed migrations of this version (decision 65)."""

from collections.abc import Iterator

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from text.errors import ActionableError

ADVICE = (
    "update to version 0.1.0 (commit 4fafc4b) first and run `foilworks migrate` there, then return to this version; or "
    "restore the backup that was made before the update that stopped (`foilworks restore`)"
)


class UnfinishedUpgrade(ActionableError):
    """The database has only a part of the changes that one squashed migration stands for."""

    def __init__(self, found: str) -> None:
        self.found = found
        super().__init__(f"{found}; {ADVICE}")


def require_whole_upgrade(connection: BaseDatabaseWrapper) -> None:
    """Raise UnfinishedUpgrade if an app has some of the migrations that a squashed one replaces, but not all.

    Django would stop in the middle of reading the migrations, with an error that names none of this.
    """
    if found := list(_unfinished(connection)):
        raise UnfinishedUpgrade(f"the database is older than 0.1.0, or its update stopped ({', '.join(found)})")


def _unfinished(connection: BaseDatabaseWrapper) -> Iterator[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    for (app, _name), migration in sorted(MigrationLoader(None, replace_migrations=False).disk_migrations.items()):
        made = sum(key in applied for key in migration.replaces)
        if 0 < made < len(migration.replaces):
            yield f"{app} has {made} of {len(migration.replaces)} migrations"
