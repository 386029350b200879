"""`foilworks backup`: back up the home while it is in use."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.site.backup.errors import BackupError
from foilworks.site.backup.folder import backup_path, make_backup, remove_older
from foilworks.site.management.base import FoilworksCommand

BY_COMMAND = "backup"


class Command(FoilworksCommand):
    help = "back up database, videos and key to a new folder, all or nothing; people can continue to work"
    example = "foilworks backup --out /mnt/safe/foilworks-monday"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--out", type=Path, metavar="DIR", help="new folder (default: one in HOME/backups)")
        parser.add_argument("--no-media", action="store_true", help="back up only the database and the key")
        parser.add_argument(
            "--keep-days",
            type=int,
            metavar="N",
            help="afterwards, remove backups in HOME/backups that are older than DAYS; the new one stays",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        days = options["keep_days"]
        if days is not None and (days < 1 or options["out"]):
            raise BackupError(
                f"--keep-days {days}: give 1 or more, without --out: it removes backups only in HOME/backups"
            )
        out = (options["out"] or backup_path(BY_COMMAND)).absolute()
        manifest = make_backup(out, media=not options["no_media"], progress=self.progress)
        sizes = [facts["bytes"] for facts in manifest["files"].values()]
        return {
            "out": str(out),
            "database": manifest["database"],
            "media": manifest["media"],
            "files": len(sizes),
            "bytes": sum(sizes),
            "removed": [str(path) for path in remove_older(BY_COMMAND, days)] if days else [],
        }

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['out']} ({result['files']} files, {result['bytes'] / 1e6:.1f} MB)" + (
            f"; removed {len(result['removed'])} older backups" if result["removed"] else ""
        )
