"""`foilworks restore`: a copy that `foilworks backup` made is put back."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from foilworks.backup.errors import BackupError
from foilworks.backup.folder import restore_backup
from foilworks.management.base import FoilworksCommand
from foilworks.supervisor.services import up_lock


class Command(FoilworksCommand):
    help = "replaces the database by a copy and adds its videos; what was there is copied first"
    example = "foilworks restore /mnt/safe/foilworks-monday"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that `foilworks backup` made")

    def run(self, **options: Any) -> dict[str, Any]:
        lock = up_lock()
        if not lock.acquire("foilworks restore"):
            raise BackupError(f"Foilworks runs here ({lock.holder()}); stop it, then restore")
        with lock:
            result = restore_backup(options["folder"].absolute(), progress=self.progress)
            # A copy of an older Foilworks is brought up to date; what it is now is what lies in the folder.
            call_command("migrate", verbosity=0, interactive=False, no_backup=True)
        return result

    def render(self, result: dict[str, Any]) -> str:
        aside = f"; what was there before: {result['aside']}" if result["aside"] else ""
        return f"restored what was copied at {result['made_at']}{aside}"
