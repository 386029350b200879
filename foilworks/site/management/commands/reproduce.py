"""`foilworks reproduce`: make a paper's tables again from public files, and put both side by side."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.reproduction.papers import PAPERS
from foilworks.site.reproduction.report import as_json, summary, write_report


class Command(FoilworksCommand):
    help = "make a paper's tables again from public files; people are simulated, and every such number says so"
    example = "foilworks reproduce vilma --sources ViLMA/data --out vilma-again"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paper", choices=list(PAPERS), metavar="PAPER", help=f"one of: {_papers()}")
        parser.add_argument(
            "--sources", required=True, type=Path, metavar="DIR", help="folder of the public files, by published names"
        )
        parser.add_argument(
            "--out", required=True, type=Path, metavar="DIR", help="folder for report.md, report.json and cells.csv"
        )
        parser.add_argument(
            "--weights",
            action="append",
            metavar="NAME=SPEC",
            help="model to score instead of a tiny one, such as CLIP=clip:openai/clip-vit-base-patch32; repeatable",
        )
        parser.add_argument("--seed", type=int, default=0, help="seed of samples and of simulated people (default 0)")

    def run(self, **options: Any) -> dict[str, Any]:
        sources, out = options["sources"].absolute(), options["out"].absolute()
        if not sources.is_dir():
            raise EvaluationError(f"{quoted(str(options['sources']))} is not a folder; give the folder of the sources")
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise EvaluationError(f"{quoted(str(options['out']))} is not empty; choose a new folder with --out")
        paper, weights = PAPERS[options["paper"]].load(), parse_set_options(options["weights"])
        self.result = paper.reproduce(sources, out, weights=weights, seed=options["seed"])
        self.found_nothing = len(self.result.missing) == len(paper.SOURCES)
        files = write_report(self.result, out)
        return {**as_json(self.result), "files": [str(path) for path in files]}

    def render(self, result: dict[str, Any]) -> str:
        lines = [f"{self.result.paper}: {summary(self.result)}", *self.result.missing]
        if self.found_nothing:
            lines.insert(0, "warning: the folder has none of the paper's files, so nothing was made; check --sources")
        return "\n".join([*lines, f"report: {result['files'][0]}"])


def _papers() -> str:
    return "; ".join(f"{slug}: {paper.label}" for slug, paper in PAPERS.items())
