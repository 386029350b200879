"""Check that the database is new enough for the squashed migrations of this version (decision 65)."""

from collections.abc import Collection, Iterator

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.migration import Migration
from django.db.migrations.recorder import MigrationRecorder

from text.errors import ActionableError

ADVICE = (
    "update to version 0.1.0 (commit 4fafc4b) first and run `foilworks migrate` there, then return to this version; or "
    "restore the backup that was made before the update that stopped (`foilworks restore`)"
)


class UnfinishedUpgrade(ActionableError):
    """The database has only some of the changes that one squashed migration contains."""

    def __init__(self, found: str) -> None:
        self.found = found
        super().__init__(f"{found}; {ADVICE}")


def require_whole_upgrade(connection: BaseDatabaseWrapper) -> None:
    """Raise UnfinishedUpgrade if an app has only some of the migrations that a squashed one replaces.

    Django would stop while it reads the migrations, with an error that explains none of this.
    """
    require_whole(MigrationRecorder(connection).applied_migrations())


def require_whole(applied: Collection[tuple[str, str]]) -> None:
    """Raise UnfinishedUpgrade if `require_whole_upgrade` refuses a database with these migrations."""
    if found := list(_unfinished(applied)):
        raise UnfinishedUpgrade(f"the database is older than 0.1.0, or its update stopped ({', '.join(found)})")


def known_migrations() -> set[tuple[str, str]]:
    """Return every migration that a database of this version may contain, including the squashed ones."""
    known = _on_disk()
    return {*known, *(key for migration in known.values() for key in migration.replaces)}


def _on_disk() -> dict[tuple[str, str], Migration]:
    return MigrationLoader(None, replace_migrations=False).disk_migrations


def _unfinished(applied: Collection[tuple[str, str]]) -> Iterator[str]:
    for (app, _name), migration in sorted(_on_disk().items()):
        made = sum(key in applied for key in migration.replaces)
        if 0 < made < len(migration.replaces):
            yield f"{app} has {made} of {len(migration.replaces)} migrations"
