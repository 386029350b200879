"""`foilworks plan`: compute items, votes, people, hours and cost of a comparison of models."""

from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.text.registry import parse_params
from foilworks.site.dashboard.pilot import pilot_of, progress
from foilworks.site.dashboard.planning import PLAN, plan
from foilworks.site.management.base import FoilworksCommand, cell, parse_set_options, table, table_of
from foilworks.site.management.projects import project_by_slug

# The others are assumptions, which `--set` changes.
MAIN = ("difference", "models", "validity", "hourly_pay", "budget")
COLUMNS = ("difference", "items", "judged", "votes", "people", "hours", "cost")


class Command(FoilworksCommand):
    help = "compute how many items, votes, people and hours show a difference between models"
    example = (
        "foilworks plan --difference 0.05 --models 6 --validity 0.7 --set votes_per_pair=5\n"
        "  foilworks plan --project my-benchmark --difference 0.03 --hourly-pay 12 --json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="start with what the votes of this project say")
        texts = {param.name: f"{param.help} (default {param.default})".replace("%", "%%") for param in PLAN.params}
        for name in MAIN:
            parser.add_argument(f"--{name.replace('_', '-')}", metavar="N", help=texts[name])
        assumptions = " ".join(f"{name}: {text}" for name, text in texts.items() if name not in MAIN)
        parser.add_argument(
            "--set", action="append", metavar="NAME=VALUE", help=f"another assumption; repeatable. {assumptions}"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        values_given = {name: options[name] for name in MAIN if options[name] is not None}
        values_given |= parse_set_options(options["set"])
        pilot = pilot_of(project_by_slug(options["project"])) if options["project"] else None
        values = parse_params(PLAN, {**(pilot.values if pilot else {}), **values_given})
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
