# ruff: noqa: N999 - the command is called undo-import
"""`foilworks undo-import`: remove the rows that the latest import of a project made."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from foilworks.core.projects.models import Project
from foilworks.site.imports.actions.undo_import import check_undo, latest_import, undo_import
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "remove the rows that the latest import of a project made, if nobody has worked on them"
    example = "foilworks undo-import --project my-benchmark --dry-run"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dry-run", action="store_true", help="name the import that would be undone")

    def run(self, **options: Any) -> dict[str, Any]:
        project: Project = project_by_slug(options["project"])
        event = latest_import(project)
        if event is None:
            raise EvaluationError(f"--project: no import of {project.slug} made rows; there is nothing to undo")
        started, removed = event.details["started"], {}
        check_undo(project, started)
        if not options["dry_run"]:
            removed = dict(undo_import(None, project, started))
        return {"file": event.details["file"], "started": started, "removed": removed, "dry_run": options["dry_run"]}

    def render(self, result: dict[str, Any]) -> str:
        origin = f"the import of {result['file']} at {result['started']}"
        if result["dry_run"]:
            return f"{origin} can be undone; nothing was removed (--dry-run)"
        counts = ", ".join(f"{count} {kind}" for kind, count in result["removed"].items() if count)
        return f"undid {origin}: removed {counts or 'nothing'}"
