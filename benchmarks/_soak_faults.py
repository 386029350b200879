"""What may happen to a machine: kills, a full disk, messages that come twice and in any order."""

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
from _soak_people import persistent
from _topology import Topology, kill_all

DISK_FULL_SECONDS = 1.5
MESSAGES = 12


class Faults:
    """Each method does its worst to the topology and starts again what nobody under test would start again."""

    def __init__(self, topology: Topology, chance: random.Random) -> None:
        self.topology, self.chance = topology, chance
        self.seen: Counter = Counter()

    def web(self) -> None:
        """The whole web server."""
        self._tree(self.topology.web)

    def web_worker(self) -> None:
        """One of its processes, which its first one replaces."""
        self._child(self.topology.web.children())

    def worker(self) -> None:
        """The whole host of workers."""
        self._tree(self.topology.worker)

    def engine(self) -> None:
        """One process that runs jobs, which its supervisor replaces; its model dies with it."""
        # Where setproctitle is installed, rq gives its process another name.
        names = ("foilworks.supervisor.worker", "rq:worker")
        self._child([each for each in self.topology.worker.children() if any(name in _line(each) for name in names)])

    def redis(self) -> None:
        """The queue; its append-only file brings it back."""
        self.topology.redis._process.kill()
        self.topology.redis._process.wait()
        self.topology.redis.start()

    def redis_lost(self) -> None:
        """The queue and all that it had written; `foilworks requeue` builds it up from the tables."""
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
        self.seen["jobs put back by foilworks requeue"] += json.loads(done.stdout)["requeued"]

    def postgres(self) -> None:
        """The database with all its processes; it recovers from its log."""
        self.topology.kill_postgres()
        self.topology.start_postgres()

    def backend(self) -> None:
        """One of its processes: it ends all others and recovers by itself."""
        self._child(
            [child for child in psutil.Process(self.topology.postgres.process.pid).children() if "soak" in _line(child)]
        )
        self.topology.start_postgres() if self.topology.postgres.process.poll() is not None else None

    def disk(self) -> None:
        """Nothing can be written for a while; what that kills is started again."""
        self.topology.fill_disk()
        time.sleep(DISK_FULL_SECONDS)
        self.topology.make_room()
        for name in self.topology.revive():
            self.seen[f"{name} died of a full disk"] += 1

    def messages(self) -> None:
        """Jobs of all states are pushed again, several times, in any order."""
        from jobs.models import Job
        from jobs.queue import push

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
