"""`foilworks trust`: allow one model to use more than safetensors and our own code."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.scoring.actions.models import trust_model
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = (
        "allow a model's own code, or weights that are not safetensors, in one project; without options, withdraw both"
    )
    example = "foilworks trust --project my-benchmark --model vlm:someone/their-model --remote-code"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--model", required=True, metavar="SPEC", help="model, such as vlm:someone/their-model")
        parser.add_argument("--remote-code", action="store_true", help="allow the Python code in the model's folder")
        parser.add_argument(
            "--other-weights", action="store_true", help="allow .bin weights, read by torch's weights-only loader"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        found = trust_model(
            None, project, options["model"], remote_code=options["remote_code"], other_weights=options["other_weights"]
        )
        allowed = [name for name in ("remote_code", "other_weights") if getattr(found, name)]
        return {"project": project.slug, "model": found.name, "allowed": allowed}

    def render(self, result: dict[str, Any]) -> str:
        allowed = " and ".join(name.replace("_", " ") for name in result["allowed"]) or "only safetensors"
        return f"{result['model']} in {result['project']}: {allowed}"
