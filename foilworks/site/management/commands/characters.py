"""`foilworks characters`: give the captions of movies a list of their characters, for identity swaps."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.corpus.actions.set_characters import set_characters
from foilworks.core.corpus.import_formats.parsing.characters import read_characters
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug

MAX_SHOWN = 10


class Command(FoilworksCommand):
    help = "give the captions of movies a list of their characters, for identity swaps"
    example = "foilworks characters characters.tsv --project my-benchmark"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help='tab-separated: movie, name, gender, optionally aliases (separated by "|")'
        )
        parser.add_argument("--project", required=True, metavar="SLUG")

    def run(self, **options: Any) -> dict[str, Any]:
        return set_characters(None, project_by_slug(options["project"]), read_characters(options["file"]))

    def render(self, result: dict[str, Any]) -> str:
        said = "{characters} characters of {movies} movies, for {captions} captions".format(**result)
        if unknown := result["unknown_movies"]:
            more = f" and {len(unknown) - MAX_SHOWN} more" if len(unknown) > MAX_SHOWN else ""
            said += f"\nno captions of: {', '.join(unknown[:MAX_SHOWN])}{more}"
        return said
