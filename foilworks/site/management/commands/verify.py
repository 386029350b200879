"""`foilworks verify`: recompute an export from its own votes and scores."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.site.exports.verify import verify
from foilworks.site.management.base import FoilworksCommand

LISTS = {"recomputed": "recomputed from the files:", "hash_only": "covered by a hash only:"}


class Command(FoilworksCommand):
    help = (
        "verify an export: check every file's hash, and recompute its tables from its votes and scores; "
        "needs no database"
    )
    example = "foilworks verify my-benchmark-v1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", type=Path, metavar="DIR", help="folder that `foilworks export` wrote, or unpacked archive"
        )
        parser.add_argument(
            "--expect",
            default="",
            metavar="HASH",
            help="hash of the manifest as the publisher announced it, on the public page or in the paper; only this "
            "detects a change by somebody who also computed all hashes again",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        return verify(options["folder"], options["expect"])

    def render(self, result: dict[str, Any]) -> str:
        if not result["ok"]:
            return str(result["difference"])
        told = [f"unchanged: {result['hash']}", f"manifest: {result['manifest']}"]
        told += [result["note"]] if "note" in result else []
        for name, title in LISTS.items():
            told += ["", title, *(f"  {line}" for line in result[name])] if result[name] else []
        return "\n".join([*told, "", *result["advice"]])

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1
