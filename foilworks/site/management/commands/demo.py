"""`foilworks demo`: create the sample project, from its videos to the scores of its two models."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser

from foilworks.core.corpus.models import Release
from foilworks.site.demo.cast import PASSWORD, VISITORS
from foilworks.site.demo.run import make_demo
from foilworks.site.management.base import FoilworksCommand, table
from foilworks.site.supervisor.services import serve

METRICS = "T: the caption scores above its foil; P: the same for the linked proficiency item; P+T: both; n: items"
ACCOUNTS = f"accounts: {', '.join(VISITORS.values())}; password: {PASSWORD}"
USUAL_PORT = 8000
NEXT = "next: run `{up}`, then open http://127.0.0.1:{port} in a browser{tutorial}"


class Command(FoilworksCommand):
    help = "create a sample project with simulated people, train and score two small models, export, then serve it"
    example = "foilworks demo\n  foilworks demo --headless --json --seed 1"
    port = USUAL_PORT

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--headless", action="store_true", help=("print the numbers and stop, without serving pages")
        )
        parser.add_argument("--seed", type=int, default=0, help="seed of the sample project (default 0)")
        parser.add_argument(
            "--fresh", action="store_true", help=("create another sample project even if one exists; the old one stays")
        )
        parser.add_argument(
            "--port", type=int, default=USUAL_PORT, help=("port on 127.0.0.1 (default 8000; 0: any free port)")
        )

    def run(self, **options: Any) -> dict[str, Any]:
        call_command("migrate", verbosity=0, interactive=False)
        self.port = options["port"] or USUAL_PORT
        result = make_demo(options["seed"], self._steps, fresh=options["fresh"])
        if options["headless"] or not sys.stdout.isatty():
            return result
        self.say(self._made(result))
        serve(port=options["port"], workers=1, say=self.say)
        return {**result, "served": True}

    def _steps(self, things: Iterable[Any], total: int, label: str) -> Iterator[Any]:
        """Draw a progress bar on a terminal; print a line per step elsewhere, so that a log shows the progress."""
        if not sys.stderr.isatty():
            self.say(f"{label} ({total})")
        yield from self.progress(things, total, label)

    def render(self, result: dict[str, Any]) -> str:
        if result.get("served"):
            return "stopped"
        return f"{self._made(result)}\n{_next(self.port)}"

    def _made(self, result: dict[str, Any]) -> str:
        """Describe what was created and which accounts can open it."""
        name = Release.objects.values_list("name", flat=True).get(pk=result["release"])
        models = [(name, *scores.values()) for name, scores in result["models"].items()]
        shares = ", ".join(f"{name} {result[name]:.3f}" for name in ("alpha", "js_all", "js_valid"))
        lines = [
            f"{result['items']} items, {result['valid']} valid, {result['unanimous']} unanimous; {shares}",
            table(("direction", "T", "P", "P+T", "n"), models),
            METRICS,
            f"release: {name} of the project {result['project']}; export: {result['export']}",
            ACCOUNTS,
        ]
        return "\n".join(lines)


def _next(port: int) -> str:
    """Say what to run next: a clone has make and the tutorial, an installed package has neither."""
    if settings.IN_CLONE:
        return NEXT.format(up="make up", port=port, tutorial="; tutorial: docs/tutorial.md")
    return NEXT.format(up="foilworks up", port=port, tutorial="")
