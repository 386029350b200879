"""`foilworks verify`: recompute an export from its own votes and scores, or compare the audit trail with its seals."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.projects.audit_trail.sealing import verify_trail
from foilworks.site.exports.verify import verify
from foilworks.site.management.base import FoilworksCommand

LISTS = {"recomputed": "recomputed from the files:", "hash_only": "covered by a hash only:"}


class Command(FoilworksCommand):
    help = (
        "verify an export: check every file's hash, and recompute its tables from its votes and scores; "
        "needs no database. With --trail, check the sealed audit trail of this installation"
    )
    example = "foilworks verify my-benchmark-v1"

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "folder",
            nargs="?",
            type=Path,
            metavar="DIR",
            help="folder that `foilworks export` wrote, or unpacked archive",
        )
        what.add_argument("--trail", action="store_true", help="compare audit rows with their seals")
        parser.add_argument(
            "--expect",
            default="",
            metavar="HASH",
            help="hash of the manifest as the publisher announced it, on the public page or in the paper; only this "
            "detects a change by somebody who also computed all hashes again. With --trail, a root from the log",
        )

        parser.add_argument(
            "--key",
            default="",
            metavar="HEX",
            help="public key that the publisher announced: checks who signed",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        if options["trail"]:
            return verify_trail(options["expect"])
        return verify(options["folder"], options["expect"], options["key"])

    def render(self, result: dict[str, Any]) -> str:
        if not result["ok"]:
            return str(result["difference"])
        if "root" in result:
            return (
                f"unchanged: {result['rows']} audit rows, {result['erased']} of them with erased texts\n"
                f"root: {result['root'] or 'none'}\nnot sealed yet: {result['waiting']}"
            )
        told = [f"unchanged: {result['hash']}", f"manifest: {result['manifest']}"]
        told += [f"signed by: {result['signed_by'] or 'nobody'}"]
        told += [result["note"]] if "note" in result else []
        for name, title in LISTS.items():
            told += ["", title, *(f"  {line}" for line in result[name])] if result[name] else []
        return "\n".join([*told, "", *result["advice"]])

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1
