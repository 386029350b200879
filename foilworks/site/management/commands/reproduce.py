"""`foilworks reproduce`: make a paper's tables again from public files, and put both side by side."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import load
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.reproduction.progress import STEPS, Steps
from foilworks.site.reproduction.registry import PAPERS, SAMPLES
from foilworks.site.reproduction.report import as_json, summary, write_report
from foilworks.site.reproduction.table_cells import Source

LINE_OF_SOURCE = "{name}: {state}; for {feeds}; published at {published_at}"


class Command(FoilworksCommand):
    help = "make a paper's tables again from public files; people are simulated, and every such number says so"
    example = "foilworks reproduce vilma --sources ViLMA/data --out vilma-again"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paper", choices=list(PAPERS), metavar="PAPER", help=_papers())
        sources = parser.add_mutually_exclusive_group(required=True)
        sources.add_argument(
            "--sources", type=Path, metavar="DIR", help="folder of the public files, by published names"
        )
        sources.add_argument("--sample", action="store_true", help="try it on small made files; nothing can be equal")
        todo = parser.add_mutually_exclusive_group(required=True)
        todo.add_argument("--out", type=Path, metavar="DIR", help="new folder for the report and its files")
        todo.add_argument("--check", action="store_true", help="only list which files the folder has and lacks")
        parser.add_argument(
            "--weights",
            action="append",
            metavar="NAME=SPEC",
            help="model to score instead of a tiny one, such as CLIP=clip:openai/clip-vit-base-patch32; repeatable",
        )
        parser.add_argument("--seed", type=int, default=0, help="seed of samples and of simulated people (default 0)")

    def run(self, **options: Any) -> dict[str, Any]:
        sources = (SAMPLES / options["paper"] if options["sample"] else options["sources"]).absolute()
        if not sources.is_dir():
            raise EvaluationError(f"{quoted(str(options['sources']))} is not a folder; give the folder of the sources")
        paper, weights = load(PAPERS[options["paper"]]), parse_set_options(options["weights"])
        if options["check"]:
            return {"sources": [_checked(source, sources) for source in paper.SOURCES]}
        out = options["out"].absolute()
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise EvaluationError(f"{quoted(str(options['out']))} is not empty; choose a new folder with --out")
        STEPS.set(Steps(self.say))
        self.result = paper.reproduce(sources, out, weights=weights, seed=options["seed"])
        self.has_no_source = len(self.result.missing) == len(paper.SOURCES)
        files = write_report(self.result, out)
        return {**as_json(self.result), "files": [str(path) for path in files]}

    def render(self, result: dict[str, Any]) -> str:
        if "sources" in result:
            return "\n".join(LINE_OF_SOURCE.format(**source) for source in result["sources"])
        lines = [f"{self.result.paper}: {summary(self.result)}", *self.result.missing]
        if self.has_no_source:
            lines.insert(0, "warning: the folder has none of the paper's files, so nothing was made; check --sources")
        return "\n".join([*lines, f"report: {result['files'][0]}"])


def _checked(source: Source, folder: Path) -> dict[str, Any]:
    """Return what the folder has of a source: the number of files, where it is published, what it is for."""
    n_files = sum(1 for _path in folder.glob(source.name))
    state = f"{n_files:,} in the folder" if n_files else "missing"
    return {
        "name": source.name,
        "n_files": n_files,
        "state": state,
        "published_at": source.where,
        "feeds": ", ".join(source.feeds),
    }


def _papers() -> str:
    return "\n".join(f"{slug}: {paper.label}" for slug, paper in PAPERS.items())
