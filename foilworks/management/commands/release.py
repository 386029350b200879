"""`foilworks release`: freezes the valid items of a project and prints the hash of what was frozen."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.actions.freeze_release import freeze_release
from evaluation.queries import project_named
from foilworks.management.base import FoilworksCommand


class Command(FoilworksCommand):
    help = "freeze the valid items of a project; prints their content hash"
    example = "foilworks release --project my-benchmark --name v1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", default="", metavar="N", help="default: release 1, release 2 ...")

        parser.add_argument("--override", default="", metavar="REASON",
                            help="why it may be released though a blind model solves it")  # fmt: skip
        parser.add_argument("--balance", action="append", default=[], metavar="SUBTEST",
                            help="leave items of it out until no word tells captions from foils")  # fmt: skip

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_named(options["project"])
        release = freeze_release(
            None, project, name=options["name"], override=options["override"], balance=options["balance"]
        )
        if options["name"] and release.name != options["name"]:
            self.say(f"the same content was released before, as {release.name}: nothing new was frozen")
        return {
            "id": release.pk,
            "name": release.name,
            "project": options["project"],
            "hash": release.content_hash,
            "n_items": release.n_items,
        }

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['hash']}  {result['name']} (id {result['id']}, {result['n_items']} items)"
