"""`foilworks plugin`: write the skeleton of a plug-in."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.site.management.base import CommandGroup, FoilworksCommand
from foilworks.site.plugin_skeleton import GROUPS, write_skeleton


class New(FoilworksCommand):
    help = "write a package with one plug-in that works, for you to change"
    example = "foilworks plugin new metrics my-gap"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("group", choices=sorted(GROUPS), help="what the plug-in adds")
        parser.add_argument("name", metavar="NAME", help="slug of the plug-in, such as my-gap")
        parser.add_argument(
            "--out", type=Path, metavar="DIR", help="new folder of the package (default: foilworks-NAME)"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        out = options["out"] or Path(f"foilworks-{options['name']}")
        files = write_skeleton(options["group"], options["name"], out)
        return {"group": options["group"], "name": options["name"], "out": str(out), "files": files}

    def render(self, result: dict[str, Any]) -> str:
        files = "\n".join(f"  {result['out']}/{file}" for file in result["files"])
        return f"{files}\nnext: pip install --editable {result['out']}, then foilworks doctor"


class Command(CommandGroup):
    help = "write the skeleton of a plug-in: a package that adds a method, a format, a metric, …"
    subcommands = {"new": New}
