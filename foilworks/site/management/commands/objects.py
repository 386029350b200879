"""`foilworks objects`: import objects that a model extracted from frames, for the object check."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.actions.studies import import_objects
from annotation.errors import AnnotationError
from annotation.rules.objects import MAX_SOURCE
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "import objects that a model found in frames (JSON Lines), for the object check"
    example = "foilworks objects objects.jsonl --project my-benchmark --source llava-1.6+mistral"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help='JSON Lines file with {"video": KEY, "time": SECONDS, "objects": [NAME, …]}'
        )
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--source", default="import", metavar="WORD", help="name of the model, for lines that do not have one"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        project, path, source = project_by_slug(options["project"]), options["file"], options["source"]
        if not 0 < len(source) <= MAX_SOURCE or not source.isprintable():
            raise AnnotationError(f"--source: give a name of 1 to {MAX_SOURCE} characters")
        try:
            with path.open(encoding="utf-8") as lines:
                return {"frames": import_objects(None, project, lines, name=str(path), source=source)}
        except OSError as error:
            raise AnnotationError(f"{path}: file: cannot be read ({error.strerror}); give a JSON Lines file") from error
        except UnicodeDecodeError as error:
            raise AnnotationError(f"{path}: file: is not UTF-8; save it as UTF-8") from error

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['frames']} frames with objects"
