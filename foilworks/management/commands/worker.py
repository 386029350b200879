"""`foilworks worker`: run jobs on a host beside the one that serves the pages."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from foilworks.doctor import gpus
from foilworks.management.base import FoilworksCommand
from foilworks.supervisor.errors import SupervisorError
from foilworks.supervisor.services import work


class Command(FoilworksCommand):
    help = "run jobs on this host until Ctrl-C; each process keeps its model loaded"
    example = (
        "foilworks worker --cpu --slots 2 --queue default\n"
        "  DATABASE_URL=postgresql://… REDIS_URL=redis://… STORAGE_URL=file:///shared/media foilworks worker --gpu 0"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument(
            "--gpu", type=int, metavar="N", help="run one process on GPU number N; it takes the gpu queue"
        )
        where.add_argument("--cpu", action="store_true", help="run processes on the CPU; they take both queues")
        parser.add_argument("--slots", type=int, default=1, help="number of processes with --cpu (default 1)")
        parser.add_argument(
            "--queue", action="append", choices=sorted(settings.RQ_QUEUES), help="take only this queue; repeatable"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        number = options["gpu"]
        if number is None:
            slots, queues = options["slots"], options["queue"] or ["default", "gpu"]
            if slots < 1:
                raise SupervisorError(f"--slots is {slots}; give 1 or more")
            threads = settings.FOILWORKS_THREADS or max(1, (os.cpu_count() or 1) // slots)
            variables = {"FOILWORKS_DEVICE": "cpu", "OMP_NUM_THREADS": str(threads)}
        else:
            slots, queues = 1, options["queue"] or ["gpu"]
            found = list(gpus())
            if number not in range(len(found)):
                seen = f"this host has {len(found)}" if found else "this host has none"
                raise SupervisorError(f"GPU {number} not found: {seen}; give another number, or --cpu")
            variables = {"FOILWORKS_DEVICE": "cuda:0", "CUDA_VISIBLE_DEVICES": str(number)}
        return {"queues": queues, "slots": work(queues=queues, slots=slots, variables=variables, say=self.say)}

    def render(self, result: dict[str, Any]) -> str:
        return "stopped"
