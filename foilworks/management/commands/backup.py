"""`foilworks backup`: a safe copy of the home, while it is in use."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.backup.folder import backup_path, make_backup
from foilworks.management.base import FoilworksCommand


class Command(FoilworksCommand):
    help = "copies database, videos and key into a new folder, whole or not at all; people can go on working"
    example = "foilworks backup --out /mnt/safe/foilworks-monday"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--out", type=Path, metavar="DIR", help="a new folder (default: one in HOME/backups)")
        parser.add_argument("--no-media", action="store_true", help="the database and the key alone")

    def run(self, **options: Any) -> dict[str, Any]:
        out = (options["out"] or backup_path("backup")).absolute()
        manifest = make_backup(out, media=not options["no_media"], progress=self.progress)
        sizes = [facts["bytes"] for facts in manifest["files"].values()]
        return {
            "out": str(out),
            "database": manifest["database"],
            "media": manifest["media"],
            "files": len(sizes),
            "bytes": sum(sizes),
        }

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['out']} ({result['files']} files, {result['bytes'] / 1e6:.1f} MB)"
