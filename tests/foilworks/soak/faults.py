"""Cause faults of a machine: kills, a full disk, repeated and reordered messages."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from tests.foilworks.soak.people import persistent
from tests.foilworks.soak.processes import Topology, kill_all

DISK_FULL_SECONDS = 1.5
MESSAGES = 12


class Faults:
    """One method per fault.

    Each restarts what no process under test restarts.
    """

    def __init__(self, topology: Topology, chance: random.Random) -> None:
        self.topology, self.chance = topology, chance
        self.seen: Counter = Counter()

    def web(self) -> None:
        """Kill the whole web server."""
        self._tree(self.topology.web)

    def web_worker(self) -> None:
        """Kill one of its processes, which its first one replaces."""
        self._child(self.topology.web.children())

    def worker(self) -> None:
        """Kill the whole host of workers."""
        self._tree(self.topology.worker)

    def engine(self) -> None:
        """Kill one process that runs jobs; its supervisor replaces it, and its model is lost."""
        # If setproctitle is installed, rq renames its process.
        names = ("foilworks.site.supervisor.worker", "rq:worker")
        self._child([each for each in self.topology.worker.children() if any(name in _line(each) for name in names)])

    def redis(self) -> None:
        """Kill the queue; its append-only file restores it."""
        self.topology.redis._process.kill()
        self.topology.redis._process.wait()
        self.topology.redis.start()

    def redis_lost(self) -> None:
        """Kill the queue and delete its files; `foilworks requeue` rebuilds it from the tables."""
        server = self.topology.redis
        server._process.kill()
        server._process.wait()
        for path in server.socket.parent.glob("appendonly*"):
            path.unlink()
        server.start()
        program = Path(sys.executable).with_name("foilworks")
        done = subprocess.run([program, "requeue", "--json"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"foilworks requeue: {done.stdout}{done.stderr[-2000:]}")
        self.seen["jobs requeued by foilworks requeue"] += json.loads(done.stdout)["requeued"]

    def postgres(self) -> None:
        """Kill the database with all its processes; it recovers from its log."""
        self.topology.kill_postgres()
        self.topology.start_postgres()

    def backend(self) -> None:
        """Kill one of its processes: the database ends all others and recovers by itself."""
        self._child(
            [child for child in psutil.Process(self.topology.postgres.process.pid).children() if "soak" in _line(child)]
        )
        self.topology.start_postgres() if self.topology.postgres.process.poll() is not None else None

    def disk(self) -> None:
        """Fill the disk for a while; restart what dies of it."""
        self.topology.fill_disk()
        time.sleep(DISK_FULL_SECONDS)
        self.topology.make_room()
        for name in self.topology.revive():
            self.seen[f"{name} died of a full disk"] += 1

    def messages(self) -> None:
        """Push jobs of all states again, several times, in any order."""
        from foilworks.core.jobs.models import Job
        from foilworks.core.jobs.queue import push

        rows = persistent(lambda: list(Job.objects.order_by("-created_at")[: 4 * MESSAGES]))
        again = [self.chance.choice(rows) for _ in range(MESSAGES)] if rows else []
        self.seen["messages sent again"] += sum(push(job) for job in again)

    def _tree(self, tree: object) -> None:
        tree.kill()
        tree.start()

    def _child(self, children: list[psutil.Process]) -> None:
        if children:
            kill_all([self.chance.choice(children)])


KILLS: dict[str, Callable[[Faults], None]] = {
    "web": Faults.web,
    "web_worker": Faults.web_worker,
    "worker": Faults.worker,
    "engine": Faults.engine,
    "redis": Faults.redis,
    "redis_lost": Faults.redis_lost,
    "postgres": Faults.postgres,
    "backend": Faults.backend,
}
BESIDE: dict[str, Callable[[Faults], None]] = {
    "disk": Faults.disk,
    "messages": Faults.messages,
}


def _line(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
