"""Check that the database is new enough for an update to this version (decision 65)."""

from collections.abc import Collection, Iterator

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.migration import Migration
from django.db.migrations.recorder import MigrationRecorder

from foilworks.core.text.errors import ActionableError

# The oldest version whose database updates in place, and the last migration of each app in it.
OLDEST_VERSION = "0.3.0"
LAST_MIGRATIONS = {
    "annotation": "0026_item_comments",
    "corpus": "0020_votes_that_stop",
    "evaluation": "0025_study_targets",
    "generation": "0013_sampled_scores",
    "jobs": "0001_squashed_0_2",
    "projects": "0015_rotation_of_webhook_secrets",
}
ADVICE = (
    f"update to version {OLDEST_VERSION} first and run `foilworks migrate` there, then return to this version; or "
    "restore the backup that was made before the update that stopped (`foilworks restore`)"
)


class UnsupportedDatabase(ActionableError):
    """The database is older than the oldest one that this version updates. `problem` says so without the advice."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}; {ADVICE}")


def require_supported_database(connection: BaseDatabaseWrapper) -> None:
    """Raise UnsupportedDatabase if the database lacks migrations of OLDEST_VERSION. An empty database is supported."""
    require_supported_migrations(MigrationRecorder(connection).applied_migrations())


def require_supported_migrations(applied_migrations: Collection[tuple[str, str]]) -> None:
    """Raise UnsupportedDatabase if `require_supported_database` refuses a database with these migrations."""
    if not any(app in LAST_MIGRATIONS for app, _name in applied_migrations):
        return
    if missing := list(_missing(applied_migrations)):
        raise UnsupportedDatabase(
            f"the database is older than {OLDEST_VERSION}, or its update stopped (it lacks {', '.join(missing)})"
        )


def known_migrations() -> set[tuple[str, str]]:
    """Return every migration that a database of this version may contain, including the squashed ones."""
    migrations = _on_disk()
    return {*migrations, *(key for migration in migrations.values() for key in migration.replaces)}


def _on_disk() -> dict[tuple[str, str], Migration]:
    return MigrationLoader(None, replace_migrations=False).disk_migrations


def _missing(applied_migrations: Collection[tuple[str, str]]) -> Iterator[str]:
    yield from (f"{app}.{name}" for app, name in LAST_MIGRATIONS.items() if (app, name) not in applied_migrations)
