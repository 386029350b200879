"""An installation as docs/deploy.md has it, by processes: web, workers, PostgreSQL, Redis and an object store.

Each host has a home of its own, and nothing of another one's disk.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg

from foilworks.site.supervisor.embedded_redis import EmbeddedRedis
from tests.object_store import Store, running_store
from tests.ports import free_port, redis_url
from tests.postgres import Postgres, running_postgres
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = Path(sys.executable).parent
# pytest-django puts test_ before a database's name; what we serve is what its tests then see.
DATABASE = "topology"
WEB = "gunicorn foilworks.site.wsgi:application --config python:foilworks.site.server.web_server --log-level warning"
COMMANDS = """
import json, sys
import django
django.setup()
from django.core.management import call_command
for command in json.load(sys.stdin):
    call_command(*command, "--json")
"""


@dataclass
class Topology:
    """`environment`: what all hosts have in common; `site`: where its pages are."""

    folder: Path
    environment: dict[str, str]
    server: Postgres
    store: Store
    site: str
    processes: dict[str, psutil.Popen] = field(default_factory=dict)

    def of(self, host: str) -> dict[str, str]:
        home = self.folder / host
        home.mkdir(exist_ok=True)
        return {**self.environment, "FOILWORKS_HOME": str(home), "HOME": str(home)}

    def start(self, host: str, *command: str) -> None:
        with (self.folder / f"{host}.log").open("ab") as log:
            self.processes[host] = psutil.Popen(
                [PROGRAMS / command[0], *command[1:]],
                cwd=ROOT,
                env=self.of(host),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def foilworks(self, *commands: str, host: str = "desk") -> list[dict[str, Any]]:
        """Commands of ours on that host, one after the other in one process, and their answers."""
        done = subprocess.run(
            [sys.executable, "-c", COMMANDS],
            input=json.dumps([command.split() for command in commands]),
            cwd=ROOT,
            env={**self.of(host), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr[-3000:] + self.logs()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def rows(self, query: str, *values: object) -> list[tuple]:
        with psycopg.connect(host=str(self.server.folder), user="postgres", dbname=f"test_{DATABASE}") as connection:
            return connection.execute(query, values).fetchall()

    def job(self, number: str) -> str:
        """The state in which the job ends."""
        ended = {"done", "failed", "cancelled"}
        self.until(lambda: self.rows("SELECT state FROM jobs_job WHERE id = %s", number)[0][0] in ended)
        return self.rows("SELECT state FROM jobs_job WHERE id = %s", number)[0][0]

    def until(self, true: Callable[[], bool]) -> None:
        wait_until(true, log=self.logs)

    def status(self) -> int:
        """Of the page of sign-in; 0 where nobody answers."""
        try:
            return httpx.get(f"{self.site}/sign-in/", timeout=60).status_code
        except httpx.TransportError:
            return 0

    def logs(self) -> str:
        return "\n".join(f"{path.name}: {path.read_text()[-2000:]}" for path in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        for process in self.processes.values():
            if process.is_running():
                process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(30)
            except psutil.TimeoutExpired:
                process.kill()


@contextmanager
def running_topology(folder: Path) -> Iterator[Topology]:
    """Two web processes, two workers of short jobs, one that scores; tables are the caller's to make."""
    with ExitStack() as stack:
        server = stack.enter_context(running_postgres())
        server.make(f"test_{DATABASE}")
        store = stack.enter_context(running_store(folder / "store"))
        redis = EmbeddedRedis(folder / "queue")
        assert redis.acquire()
        stack.callback(redis.release)
        redis.start()
        stack.callback(redis.stop)
        port = free_port()
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "FOILWORKS_HOME", "DJANGO_"))
        }
        own = {
            "DATABASE_URL": server.url(f"test_{DATABASE}"),
            "REDIS_URL": redis_url(folder / "queue"),
            "SECRET_KEY": "one-key-that-every-host-of-the-topology-has-in-common",
            **store.environment,
        }
        topology = Topology(folder, {**inherited, **own}, server, store, f"http://127.0.0.1:{port}")
        stack.callback(topology.stop)
        topology.start("web", *WEB.split(), "--no-control-socket", "--bind", f"127.0.0.1:{port}")
        topology.start("short", "foilworks", "worker", "--cpu", "--slots", "2", "--queue", "default")
        topology.start("scoring", "foilworks", "worker", "--cpu", "--queue", "gpu")
        # Both web processes load what pages need before anybody waits for one; there are no tables yet.
        for _ in range(4):
            topology.until(lambda: topology.status() > 0)
        yield topology
