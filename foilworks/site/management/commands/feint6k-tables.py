"""`foilworks feint6k-tables`: write the tables of (Feint6K, Tables 1 and 2) from a project's runs and trainings."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.scoring.queries import release_named
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug
from foilworks.site.teacher.paper_files import WRITERS
from foilworks.site.teacher.paper_tables import tables


class Command(FoilworksCommand):
    help = "write the paper's tables (Feint6K, Tables 1 and 2) from a project's own runs and trainings"
    example = (
        "foilworks feint6k-tables --project mine --release msrvtt --release vatex\n"
        "  foilworks feint6k-tables --project mine --release v1 --format tex --out tables.tex\n"
        "  foilworks feint6k-tables --project mine --release v1 --row InternVideo=external:internvideo --with-paper"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="project of the releases")
        parser.add_argument(
            "--release",
            action="append",
            required=True,
            dest="releases",
            metavar="ID",
            help="release: id, hash or name; repeatable: one group of columns each, such as MSR-VTT and VATEX",
        )
        parser.add_argument(
            "--row",
            action="append",
            default=[],
            dest="rows",
            metavar="PAPER=MODEL",
            help="put a model here into a row of the paper; MODEL is the name of a run or a student; repeatable",
        )
        parser.add_argument("--format", choices=sorted(WRITERS), default="md", dest="form", help="default: md")
        parser.add_argument("--with-paper", action="store_true", help="add the paper's numbers in parentheses")
        parser.add_argument("--out", type=Path, metavar="FILE", help="write to this file instead of printing")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        releases = [release_named(name, project) for name in dict.fromkeys(options["releases"])]
        found = tables(releases, _names(options["rows"]))
        self._text = WRITERS[options["form"]](found, with_paper=options["with_paper"])
        if options["out"] is not None:
            try:
                options["out"].write_text(self._text, encoding="utf-8")
            except OSError as error:
                raise EvaluationError(
                    f"{options['out']}: cannot be written ({error.strerror}); choose another --out"
                ) from error
            self._text = f"{options['out']}: both tables, {len(releases)} groups of columns"
        return found

    def render(self, result: dict[str, Any]) -> str:
        return self._text.rstrip("\n")


def _names(given: list[str]) -> dict[str, str]:
    """Return {row of the paper: model here}."""
    pairs = [one.partition("=") for one in given]
    for name, mark, model in pairs:
        if not (name.strip() and mark and model.strip()):
            raise EvaluationError(f"--row {name}: has no row or no model; write --row CLIP=clip-vit-base-patch32")
    return {name.strip(): model.strip() for name, _, model in pairs}
