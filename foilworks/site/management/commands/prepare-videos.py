# ruff: noqa: N999 - the command is called prepare-videos
"""`foilworks prepare-videos`: make film strips, and read frame times of files that were stored before 0.3."""

from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.corpus.actions.prepare_videos import prepare_now
from foilworks.core.projects.models import Project
from foilworks.site.management.base import FoilworksCommand, one_line
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "read frame times of stored videos and make film strips, if missing"
    example = "foilworks prepare-videos --project my-benchmark"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", default="", metavar="SLUG", help="only this project (default: all)")

    def run(self, **options: Any) -> dict[str, Any]:
        slug = options["project"]
        projects = [project_by_slug(slug)] if slug else Project.objects.order_by("pk")
        return prepare_now([project.pk for project in projects], self.progress)

    def render(self, result: dict[str, Any]) -> str:
        for row in result["failed"]:
            self.say(one_line(f"failed: {row['video']}: {row['error']}"))
        return f"{result['prepared']} videos prepared, {len(result['failed'])} failed"
