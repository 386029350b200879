"""`foilworks utd describe` and `import`: make or import descriptions of frames, with the concepts in them."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.utd.actions.descriptions import describe_videos, import_descriptions
from evaluation.utd.models import Descriptions
from evaluation.utd.prompt_sets import PLACEMENTS, PREFILL, QUESTION, read_prompts
from evaluation.utd.recipes import PAPER, RECIPES
from evaluation.utd.requests import DescriptionRequest
from evaluation.utd.subsets import keys_in
from foilworks.core.text.registry import Entry, Param, parse_params
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.management.projects import project_by_slug, run_or_queue
from foilworks.site.management.utd.rows import add_device_and_sync, add_name
from foilworks.site.management.utd.text import described_lines, queued_lines

PLACEMENT_HELP = f"start of the answer: {PREFILL} (after the question) or {QUESTION} (at the end of the question)"
OVERRIDES = Entry(
    label="utd describe",
    params=(
        Param("describer", "", "describing model, vlm:ID or endpoint:NAME"),
        Param("extractor", "", "extracting model, chat:ID or endpoint:NAME"),
        Param("frames", 0, "frames per video", "int"),
        Param("placement", "", PLACEMENT_HELP, "choice", ("", *PLACEMENTS)),
    ),
)


def params_help(entry: Entry) -> str:
    """Return names and meanings of the parameters that `--set` takes, for a help text."""
    return "; ".join(f"{param.name}: {param.help}" for param in entry.params).replace("%", "%%")


class _MakesDescriptions(FoilworksCommand):
    def render(self, result: dict[str, Any]) -> str:
        if result.get("state", "done") != "done":
            return "\n".join(queued_lines(result))
        return "\n".join(described_lines(Descriptions.objects.get(pk=result["descriptions"])))


class Describe(_MakesDescriptions):
    help = "describe frames of a project's videos, and extract concepts from the descriptions"
    example = "foilworks utd describe --project mine --sync"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--recipe", choices=sorted(RECIPES), default=PAPER, help="recipe with the models")
        parser.add_argument(
            "--set",
            action="append",
            metavar="NAME=VALUE",
            help=f"override the recipe; repeatable; {params_help(OVERRIDES)}",
        )
        parser.add_argument("--prompts", type=Path, metavar="FILE", help="own prompts and examples (JSON)")
        parser.add_argument("--max-requests", type=int, metavar="N", help="max requests to endpoints")
        parser.add_argument("--max-tokens", type=int, metavar="N", help="max input and output tokens at endpoints")
        parser.add_argument("--split", default="", help="only videos of this split")
        parser.add_argument("--videos", type=Path, metavar="FILE", help="only these videos; one key per line")
        add_name(parser)
        add_device_and_sync(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        limits = {name: options[f"max_{name}"] for name in ("requests", "tokens")}
        descriptions = describe_videos(
            None,
            project_by_slug(options["project"]),
            DescriptionRequest(
                recipe=options["recipe"],
                name=options["name"],
                device=options["device"],
                budget={name: limit for name, limit in limits.items() if limit is not None},
                split=options["split"],
                videos=keys_in(options["videos"]) if options["videos"] else (),
                prompts=read_prompts(options["prompts"]) if options["prompts"] else {},
                **parse_params(OVERRIDES, parse_set_options(options["set"])),
            ),
        )
        return {
            "action": "describe",
            "descriptions": descriptions.pk,
            **run_or_queue(self, descriptions.job, options["sync"]),
        }


class Import(_MakesDescriptions):
    help = "import descriptions of frames (JSON)"
    example = "foilworks utd import --project mine --file descriptions.json"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--file",
            type=Path,
            action="append",
            required=True,
            metavar="FILE",
            dest="files",
            help="file of descriptions; repeatable",
        )
        parser.add_argument(
            "--extractor", default="", metavar="M", help="extract concepts with this model: chat:ID or endpoint:NAME"
        )
        add_name(parser)
        parser.add_argument("--sync", action="store_true", help="run now instead of queueing a job")

    def run(self, **options: Any) -> dict[str, Any]:
        descriptions = import_descriptions(
            None,
            project_by_slug(options["project"]),
            options["files"],
            name=options["name"],
            extractor=options["extractor"],
        )
        numbers = {"descriptions": descriptions.pk, "problems": descriptions.problems}
        return {"action": "import", **numbers, **run_or_queue(self, descriptions.job, options["sync"])}
