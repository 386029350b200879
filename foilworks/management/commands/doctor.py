"""`foilworks doctor`: the state of an installation."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from foilworks.doctor import BROKEN, OK, examine
from foilworks.management.base import FoilworksCommand
from foilworks.production_checks import findings

MARKS = {OK: "ok", BROKEN: "BROKEN"}


class Command(FoilworksCommand):
    help = "says what is installed and in use, and what to do about what is missing"
    example = "foilworks doctor --json\n  foilworks doctor --production"

    def add_arguments(self, parser: CommandParser) -> None:
        about = "refuse settings that are not fit for an installation that others reach (status 1)"
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
        lines.append("all is well" if result["ok"] else "something that the work needs is broken; see the arrows")
        return "\n".join(lines)

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1


def _production(result: dict[str, Any]) -> str:
    lines = [f"{each['name']}: {each['found']}; {each['todo']}" for each in result["production"]]
    last = "fit for production" if result["ok"] else f"not fit for production: {len(lines)} to change"
    return "\n".join([*lines, last])
