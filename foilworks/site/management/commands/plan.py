"""`foilworks plan`: compute items, votes, people, hours and cost of a comparison of models."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.scoring.queries import project_named
from foilworks.core.text.registry import parse_params
from foilworks.site.dashboard.pilot import pilot_of, progress
from foilworks.site.dashboard.planning import PLAN, plan
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.text_tables import cell, table, table_of

COLUMNS = ("difference", "items", "judged", "votes", "people", "hours", "cost")


class Command(FoilworksCommand):
    help = "compute how many items, votes, people and hours show a difference between models"
    example = (
        "foilworks plan --difference 0.05 --models 6 --validity 0.7\n"
        "  foilworks plan --project my-benchmark --difference 0.03 --hourly-pay 12 --json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="start with what the votes of this project say")
        for param in PLAN.params:
            words, flag = f"{param.help} (default {param.default})", f"--{param.name.replace('_', '-')}"
            words = words.replace("%", "%%")
            if param.kind == "bool":
                parser.add_argument(flag, action="store_true", default=None, help=words)
            else:
                parser.add_argument(flag, metavar="N", help=words)

    def run(self, **options: Any) -> dict[str, Any]:
        given = {param.name: options[param.name] for param in PLAN.params if options[param.name] is not None}
        pilot = pilot_of(project_named(options["project"])) if options["project"] else None
        values = parse_params(PLAN, {**(pilot.values if pilot else {}), **given})
        found = plan(values)
        known = {"from_project": pilot.rows, "progress": progress(pilot, found, values["budget"])} if pilot else {}
        return {"values": values, **found, **known}

    def render(self, result: dict[str, Any]) -> str:
        values = [(name, cell(value)) for name, value in result["values"].items()]
        parts = [table(("value", ""), values), table_of(result["differences"], COLUMNS)]
        if "progress" in result:
            left = [(name, cell(value)) for name, value in result["progress"].items()]
            parts.append(table(("progress", ""), left))
        return "\n\n".join(parts)
