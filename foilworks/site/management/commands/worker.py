"""`foilworks worker`: run jobs on a host beside the one that serves the pages."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from foilworks.core.jobs.models import JobState
from foilworks.site.doctor import gpus
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.supervisor.errors import SupervisorError
from foilworks.site.supervisor.services import work, work_on_ray

RAY_SLOTS = 8


class Command(FoilworksCommand):
    help = "run jobs on this host until Ctrl-C; each process keeps its model loaded"
    example = (
        "foilworks worker --cpu --slots 2 --queue default\n"
        "  foilworks worker --environment ~/.config/foilworks/environment --gpu 0\n"
        "  RAY_ADDRESS=head:6379 foilworks worker --ray --slots 16"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument(
            "--gpu", type=int, metavar="N", help="run one process on GPU number N; it takes the gpu queue"
        )
        where.add_argument("--cpu", action="store_true", help="run processes on the CPU; they take both queues")
        where.add_argument(
            "--ray",
            action="store_true",
            help="run the gpu queue on the Ray cluster at RAY_ADDRESS, from one of its nodes; RAY_RESOURCES says how "
            "many CPUs and GPUs an actor reserves (0.5: two actors share a GPU)",
        )
        parser.add_argument(
            "--slots", type=int, help="number of processes with --cpu (default 1), max actors with --ray (default 8)"
        )
        parser.add_argument(
            "--queue", action="append", choices=sorted(settings.RQ_QUEUES), help="take only this queue; repeatable"
        )
        parser.add_argument("--until-empty", action="store_true", help="end when the queues have no open job")

    def run(self, **options: Any) -> dict[str, Any]:
        if options["slots"] is not None and options["slots"] < 1:
            raise SupervisorError(f"--slots is {options['slots']}; give 1 or more")
        ends = {"say": self.say, "until_empty": options["until_empty"]}
        if options["ray"]:
            if "default" in (options["queue"] or []):
                raise SupervisorError("Ray runs the gpu queue only; run `foilworks worker --cpu --queue default`, too")
            slots = options["slots"] or RAY_SLOTS
            return {"queues": ["gpu"], "slots": slots, "state": work_on_ray(slots=slots, **ends)}
        slots, queues, variables = self._here(options["gpu"], options["slots"] or 1, options["queue"])
        return {
            "queues": queues,
            "slots": slots,
            "state": work(queues=queues, slots=slots, variables=variables, **ends),
        }

    def _here(self, number: int | None, slots: int, queues: list[str] | None) -> tuple[int, list[str], dict[str, str]]:
        """Return the processes of this host, their queues and their variables."""
        if number is None:
            threads = settings.FOILWORKS_THREADS or max(1, (os.cpu_count() or 1) // slots)
            variables = {"FOILWORKS_DEVICE": "cpu", "OMP_NUM_THREADS": str(threads)}
            return slots, queues or ["default", "gpu"], variables
        found = list(gpus())
        if number not in range(len(found)):
            seen = f"this host has {len(found)}" if found else "this host has none"
            raise SupervisorError(f"GPU {number} not found: {seen}; give another number, or --cpu")
        return 1, queues or ["gpu"], {"FOILWORKS_DEVICE": "cuda:0", "CUDA_VISIBLE_DEVICES": str(number)}

    def exit_status(self, result: dict[str, Any]) -> int:
        return 1 if result["state"] == JobState.FAILED else super().exit_status(result)

    def render(self, result: dict[str, Any]) -> str:
        return "stopped"
