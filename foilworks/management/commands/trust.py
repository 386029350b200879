"""`foilworks trust`: what is allowed for one model beyond safetensors and code of this house."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.scoring.actions.models import trust_model
from foilworks.management.base import FoilworksCommand
from foilworks.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = (
        "allows a model's own code or weights that are no safetensors, in one project; without either it allows neither"
    )
    example = "foilworks trust --project my-benchmark --model vlm:someone/their-model --remote-code"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--model", required=True, metavar="SPEC", help="such as vlm:someone/their-model")
        parser.add_argument("--remote-code", action="store_true", help="run Python code that lies beside its weights")
        parser.add_argument(
            "--other-weights", action="store_true", help="load .bin files, by torch's weights-only reader"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        found = trust_model(
            None, project, options["model"], remote_code=options["remote_code"], other_weights=options["other_weights"]
        )
        allowed = [name for name in ("remote_code", "other_weights") if getattr(found, name)]
        return {"project": project.slug, "model": found.name, "allowed": allowed}

    def render(self, result: dict[str, Any]) -> str:
        allowed = " and ".join(name.replace("_", " ") for name in result["allowed"]) or "nothing beyond safetensors"
        return f"{result['model']} in {result['project']}: {allowed}"
