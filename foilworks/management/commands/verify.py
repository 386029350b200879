"""`foilworks verify`: an export computed again from its own votes and scores."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.exports.verify import verify
from foilworks.management.base import FoilworksCommand


class Command(FoilworksCommand):
    help = "checks every byte of an export, and its tables against its own votes and scores; needs no database"
    example = "foilworks verify my-benchmark-v1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that `foilworks export` wrote")

        parser.add_argument(
            "--expect",
            default="",
            metavar="HASH",
            help="the manifest's hash as its maker published it: then nothing can have been changed unseen",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        return verify(options["folder"], options["expect"])

    def render(self, result: dict[str, Any]) -> str:
        if not result["ok"]:
            return str(result["difference"])
        told = f"as it was written: {result['hash']}\nits manifest: {result['manifest']}"
        return f"{told}\n{result['note']}" if "note" in result else told

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1
