"""`foilworks doctor`: show the state of an installation."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from foilworks.site.doctor import BROKEN, OK, examine
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.production_checks import findings

MARKS = {OK: "ok", BROKEN: "BROKEN"}


class Command(FoilworksCommand):
    help = "show what is installed and in use, and how to fix what is missing"
    example = "foilworks doctor --json\n  foilworks doctor --production"

    def add_arguments(self, parser: CommandParser) -> None:
        about = "check the settings for production; exit status 1 if one is unsafe"
        parser.add_argument("--production", action="store_true", help=about)

    def run(self, **options: Any) -> dict[str, Any]:
        if options["production"]:
            found = [asdict(finding) for finding in findings()]
            return {"ok": not found, "production": found}
        checks = [asdict(check) for check in examine()]
        return {"ok": all(check["state"] != BROKEN for check in checks), "checks": checks}

    def render(self, result: dict[str, Any]) -> str:
        if "production" in result:
            return _production(result)
        lines = []
        for check in result["checks"]:
            lines.append(f"{check['name']:<22} {MARKS.get(check['state'], check['state']):<7} {check['found']}")
            if check["todo"]:
                lines.append(f"{'':<30} -> {check['todo']}")
        lines.append(
            "no problems found"
            if result["ok"]
            else "something that Foilworks needs is broken; follow the lines with ->"
        )
        return "\n".join(lines)

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1


def _production(result: dict[str, Any]) -> str:
    lines = [f"{each['name']}: {each['found']}; {each['todo']}" for each in result["production"]]
    last = "ready for production" if result["ok"] else f"not ready for production: {len(lines)} to change"
    return "\n".join([*lines, last])
