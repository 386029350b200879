"""`foilworks doctor`: the state of an installation."""

from dataclasses import asdict
from typing import Any

from foilworks.doctor import BROKEN, OK, examine
from foilworks.management.base import FoilworksCommand

MARKS = {OK: "ok", BROKEN: "BROKEN"}


class Command(FoilworksCommand):
    help = "says what is installed and in use, and what to do about what is missing"
    example = "foilworks doctor --json"

    def run(self, **options: Any) -> dict[str, Any]:
        checks = [asdict(check) for check in examine()]
        return {"ok": all(check["state"] != BROKEN for check in checks), "checks": checks}

    def render(self, result: dict[str, Any]) -> str:
        lines = []
        for check in result["checks"]:
            lines.append(f"{check['name']:<22} {MARKS.get(check['state'], check['state']):<7} {check['found']}")
            if check["todo"]:
                lines.append(f"{'':<30} -> {check['todo']}")
        lines.append("all is well" if result["ok"] else "something that the work needs is broken; see the arrows")
        return "\n".join(lines)

    def exit_status(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1
