"""`foilworks up`: run the web server, the workers and, without a REDIS_URL, the queue."""

from typing import Any

from django.core.management.base import CommandParser

from foilworks.site.management.base import FoilworksCommand
from foilworks.site.supervisor.errors import SupervisorError
from foilworks.site.supervisor.services import serve


class Command(FoilworksCommand):
    help = "serve the pages and run jobs until Ctrl-C"
    example = "foilworks up --port 8000 --workers 2"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port on 127.0.0.1 (default 8000; 0: any free port)")
        parser.add_argument("--workers", type=int, default=2, help="number of worker processes (default 2)")

    def run(self, **options: Any) -> dict[str, Any]:
        if options["workers"] < 1:
            raise SupervisorError(f"--workers is {options['workers']}; give 1 or more")
        address = serve(port=options["port"], workers=options["workers"], say=self.say)
        return {"address": address, "workers": options["workers"], "stopped": True}

    def render(self, result: dict[str, Any]) -> str:
        return "stopped"
