"""`foilworks migrate`: Django's command, with a backup of the database before it changes."""

import json
import sys
from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from foilworks.core.text.errors import ActionableError
from foilworks.site.backup.folder import automatic_backup, has_rows, remove_old
from foilworks.site.databases import first_tables
from foilworks.site.databases.database_version import require_supported_database
from foilworks.site.management.base import FoilworksCommand, one_line

ONLY_LOOKS = ("plan", "check_unapplied")
# With one of these options people want the migrations themselves.
CHOOSES = ("app_label", "fake", "fake_initial", "prune", "run_syncdb")


class Command(FoilworksCommand, DjangoMigrate):
    help = "update the database tables; a database with content is backed up to HOME/backups first"
    example = "foilworks migrate"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--no-backup", action="store_true", help="do not back up the database first")

    def handle(self, *args: Any, **options: Any) -> None:
        as_json, no_backup = options.pop("as_json"), options.pop("no_backup")
        copy, connection = None, connections[options["database"]]
        try:
            # `migrate APP NAME` may also go back to an older state, and forward again.
            if not options["app_label"]:
                require_supported_database(connection)
            if not no_backup and self._changes_something(options):
                copy = automatic_backup("before-migrate")
                remove_old("before-migrate", copy)
        except ActionableError as error:
            self.stderr.write(f"foilworks: {one_line(str(error))}")
            sys.exit(1)
        if as_json:
            options["verbosity"] = 0
        if not any(options[name] for name in (*ONLY_LOOKS, *CHOOSES)) and first_tables.has_none(connection):
            first_tables.make_all(connection)
            if options["verbosity"]:
                self.say("the database was empty: all tables are created")
        DjangoMigrate.handle(self, *args, **options)
        if as_json:
            self.stdout.write(json.dumps({"backup": str(copy) if copy else None}))
        elif copy and options["verbosity"]:
            self.say(f"the previous database is saved in {copy}")

    def _changes_something(self, options: dict[str, Any]) -> bool:
        """Return whether the database has content and migrations to apply or to unapply."""
        connection = connections[options["database"]]
        if options["database"] != "default" or any(options[name] for name in ONLY_LOOKS) or not has_rows():
            return False
        executor = MigrationExecutor(connection)
        return bool(options["app_label"] or executor.migration_plan(executor.loader.graph.leaf_nodes()))
