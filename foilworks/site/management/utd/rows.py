"""Find the rows that the subcommands of `foilworks utd` name, and share their options."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.newest import newest_descriptions
from evaluation.utd.recipes import DEMO_ONLY
from evaluation.utd.required_texts import told
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug
from foilworks.site.management.utd.text import NO_SPLIT, is_demo

MAX_LISTED = 20
# In the JSON only: people know their subcommand, and tables show the result.
NOT_RENDERED = {"action", "result"}


class PlainCommand(FoilworksCommand):
    """A subcommand without a table: its result is printed as it is."""

    def render(self, result: dict[str, Any]) -> str:
        return super().render({key: value for key, value in result.items() if key not in NOT_RENDERED})


def row_of(table: Any, pk: int) -> Any:
    """Return the row of the table; the EvaluationError lists the newest ids."""
    row = table.objects.filter(pk=pk).select_related("project").first()
    if row is None:
        newest = table.objects.order_by("-pk").values_list("pk", flat=True)[:MAX_LISTED]
        raise EvaluationError(f"id {pk} not found; choose one of: {', '.join(map(str, newest)) or 'none yet'}")
    return row


def add_descriptions(parser: CommandParser) -> None:
    """Add `--project` and `--descriptions`, which `descriptions_of` reads."""
    parser.add_argument("--project", metavar="SLUG", help="use the newest descriptions of this project")
    parser.add_argument("--descriptions", type=int, metavar="ID", help="id of the descriptions")


def descriptions_of(options: dict[str, Any]) -> Descriptions:
    """Return the descriptions with the given id, or the newest ones of the given project."""
    if options["descriptions"]:
        row: Descriptions = row_of(Descriptions, options["descriptions"])
        return row
    if options["project"]:
        return newest_descriptions(project_by_slug(options["project"]))
    raise EvaluationError("--project is missing; add it to use its newest descriptions, or give --descriptions ID")


def add_device_and_sync(parser: CommandParser) -> None:
    parser.add_argument("--device", default="auto", metavar="D", help="device: auto, cpu, cuda or cuda:N")
    parser.add_argument("--sync", action="store_true", help="run now instead of queueing a job")


def add_name(parser: CommandParser) -> None:
    parser.add_argument("--name", default="", help="name on pages")


def add_run(parser: CommandParser) -> None:
    parser.add_argument("--run", type=int, required=True, metavar="ID", dest="bias_run", help="id of a run")


def add_file(parser: CommandParser, contents: str) -> None:
    parser.add_argument("--file", type=Path, required=True, metavar="FILE", help=contents)


def notes_of(run: BiasRun) -> dict[str, Any]:
    """Return the warnings about a run: texts that are missing, and nine models that are too weak."""
    result = run.result or {}
    nine = (result.get("split") or {}).get("nine") or {}
    no_split = [NO_SPLIT] if result.get("common") and not result.get("split") else []
    demo = [DEMO_ONLY] if is_demo(run.descriptions) else []
    warnings = [*demo, *told(result.get("missing") or []), *nine.get("warnings", []), *no_split]
    return {"warnings": warnings} if warnings else {}
