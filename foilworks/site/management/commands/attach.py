"""`foilworks attach`: attach video files to clips that were imported without them."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.corpus.actions.attach_media import attach_folder
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "attach video files of a folder to clips without a file, by id; trims are checked"
    example = "foilworks attach --project my-benchmark --media clips/"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--media", required=True, type=Path, metavar="DIR", help="folder of the video files")
        parser.add_argument("--source", default="", metavar="ID", help="only clips of this source video")

    def run(self, **options: Any) -> dict[str, Any]:
        slug, media = options["project"], options["media"]
        found = attach_folder(None, project_by_slug(slug), media, options["source"])
        if n := found["missing"]:
            check = f"`foilworks sources check --project {slug} --media {media}`"
            self.say(f"{n} still without a file: no file of the folder has its name or id; {check} lists similar names")
        if n := found["differing"]:
            replace = "`foilworks import … --media DIR --update` replaces those of clips that nobody used"
            self.say(f"{n} clips have another file than the folder and keep it; {replace}")
        return found

    def render(self, result: dict[str, Any]) -> str:
        return ", ".join(f"{count} {state}" for state, count in result.items())
