"""`foilworks refresh-dashboard`: recompute the counts of a project's dashboard now."""

from typing import Any

from django.core.management.base import CommandParser

from foilworks.site.dashboard.stored_count import keep
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "recompute the counts of a project's dashboard, and print them"
    example = "foilworks refresh-dashboard --project mine --json"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")

    def run(self, **options: Any) -> dict[str, Any]:
        return keep(project_by_slug(options["project"])).data

    def render(self, result: dict[str, Any]) -> str:
        lines = [f"{name:>14} {n}" for name, n in result["funnel"].items()]
        cost = result["cost"]
        money = f"{cost['total']} {cost['currency']}" if cost["has_rates"] else "no rates"
        days = result["forecast"]["days"]
        left = "?" if days is None else f"{days:.1f}"
        return "\n".join([*lines, f"{'cost':>14} {money}", f"{'days left':>14} {left}"])
