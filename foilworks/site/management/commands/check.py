"""`foilworks check`: check every invariant of the workflow in the database."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import connection, transaction

from foilworks.site.invariants.registry import INVARIANTS, OF_FILES, damaged_files, violations
from foilworks.site.management.base import FoilworksCommand

SHOWN = 50


class Command(FoilworksCommand):
    help = "check every invariant of the database; exit status 1 if one is violated"
    example = "foilworks check --json"

    def add_arguments(self, parser: CommandParser) -> None:
        files = parser.add_mutually_exclusive_group()
        files.add_argument("--files", action="store_true", help="also read every stored video and compare its hash")
        files.add_argument("--no-media", action="store_true", help="check no file: the videos are not here")

    def run(self, **options: Any) -> dict[str, Any]:
        # Everything is read as of one moment, while people continue to work.
        with transaction.atomic():
            _as_of_one_moment()
            found = violations(OF_FILES if options["no_media"] else frozenset())
        if options["files"]:
            found += damaged_files(self.progress)
        checked = len(INVARIANTS) + options["files"] - len(OF_FILES) * options["no_media"]
        return {"ok": not found, "checked": checked, "violations": found}

    def render(self, result: dict[str, Any]) -> str:
        if result["ok"]:
            return f"{result['checked']} invariants hold"
        lines = [f"{found['row']}: {found['problem']} ({found['invariant']})" for found in result["violations"]]
        more = [f"... and {len(lines) - SHOWN} more; --json lists all"] if len(lines) > SHOWN else []
        return "\n".join([*lines[:SHOWN], *more, f"{len(lines)} violations"])

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1


def _as_of_one_moment() -> None:
    """Read a consistent snapshot: SQLite's transactions do, PostgreSQL's need an isolation level.

    Does nothing inside a transaction of the caller (tests).
    """
    if connection.vendor == "postgresql" and not connection.savepoint_ids:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
