"""`foilworks restore`: restore a backup, or rehearse it beside the installation."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from foilworks.site.backup.errors import BackupError
from foilworks.site.backup.folder import count_rows, restore_backup
from foilworks.site.backup.rehearsal import rehearse
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.supervisor.services import up_lock

SHOWN = 20
NO_KEY = "the backup has no key: keep the SECRET_KEY of the environment, or sessions and links become invalid"


class Command(FoilworksCommand):
    help = "restore a backup: replace the database and add the videos; the current state is backed up first"
    example = "foilworks restore /mnt/safe/foilworks-monday --rehearse\n  foilworks restore /mnt/safe/foilworks-monday"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="folder that `foilworks backup` made")
        parser.add_argument(
            "--rehearse",
            action="store_true",
            help="try the backup: restore it to a temporary home and database, check it, and remove them; "
            "people can continue to work",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        if options["rehearse"]:
            return {"rehearsed": True, **rehearse(options["folder"].absolute())}
        lock = up_lock()
        if not lock.acquire("foilworks restore"):
            raise BackupError(f"Foilworks is running ({lock.holder()}); stop it, then run the restore again")
        with lock:
            result = restore_backup(options["folder"].absolute(), progress=self.progress)
            # A backup of an older Foilworks is migrated here; the manifest describes what is in the folder.
            call_command("migrate", verbosity=0, interactive=False, no_backup=True)
        return {**result, "rows": count_rows()}

    def render(self, result: dict[str, Any]) -> str:
        if result.get("rehearsed"):
            return _rehearsed(result)
        aside = f"; the previous data is in {result['aside']}" if result["aside"] else ""
        lines = [f"restored the backup of {result['made_at']}{aside}"]
        lines += [] if result["key"] else [NO_KEY]
        return "\n".join(lines)

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result.get("ok", True) else 1


def _rehearsed(result: dict[str, Any]) -> str:
    rows = ", ".join(f"{name}: {count}" for name, count in result["rows"].items())
    lines = [f"the backup of {result['made_at']} can be restored: {rows}"]
    if result["ok"]:
        lines.append(f"{result['checked']} invariants hold")
    else:
        found = result["violations"]
        lines.append(f"{len(found)} violations:")
        lines += [f"{each['row']}: {each['problem']} ({each['invariant']})" for each in found[:SHOWN]]
    if not result["media"]:
        lines.append("the backup has no videos: restore them from your own copy")
    if not result["key"]:
        lines.append(NO_KEY)
    return "\n".join(lines)
