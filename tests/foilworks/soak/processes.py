"""Run Foilworks as processes on one machine, for programs that kill them.

A web server, a host of workers, a Redis and a PostgreSQL each have a folder on a small disk. Programs under test
restart what they promise to; this module restarts what a service manager would, and nothing else. The disk is a tmpfs
where mounting is allowed (root), so that it can be full; elsewhere it never is.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from tests.ports import free_port, redis_url
from tests.served_home import ROOT, answers_at, make_tables

DISK_BYTES = 1024 * 1024 * 1024
# Durable against a killed server: committed data has left its process.
POSTGRES = {"synchronous_commit": "on", "full_page_writes": "on", "max_connections": "120"}


class Tree:
    """A program with its children; `start` again after `kill`."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], log: Path) -> None:
        self.name, self.command, self.environment, self.log = name, command, environment, log
        self.process: psutil.Popen | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = psutil.Popen(
                self.command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def children(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            return self.process.children(recursive=True) if self.process else []
        return []

    def kill(self) -> None:
        """Kill all of it at once, like a power cut."""
        kill_all([self.process] if self.process else [])

    def stop(self) -> None:
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
            with suppress(psutil.TimeoutExpired):
                self.process.wait(20)
        self.kill()


def kill_all(roots: list[psutil.Process]) -> None:
    """Send SIGKILL to the processes and their children, stopped first, so that none reacts to the end of another."""
    found: list[psutil.Process] = []
    for root in roots:
        with suppress(psutil.Error):
            found += [*root.children(recursive=True), root]
    for step in ("suspend", "kill"):
        for process in found:
            with suppress(psutil.Error):
                getattr(process, step)()
    psutil.wait_procs(found, timeout=20)


def web_tree(port: int, environment: dict[str, str], log: Path) -> Tree:
    from foilworks.site.supervisor.services import GUNICORN

    told = (
        f"foilworks.site.wsgi:application --bind 127.0.0.1:{port} {GUNICORN} --graceful-timeout 2 --log-level warning"
    )
    return Tree("web", [sys.executable, "-m", "gunicorn", *told.split()], environment, log)


def wait_for(web: Tree, port: int, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not answers_at(port):
        if time.monotonic() > until:
            raise RuntimeError(f"the web server does not answer: {web.log.read_text()[-2000:]}")
        time.sleep(0.05)


class Topology:
    """All servers: `web` and `worker` are trees, `postgres` and `redis` servers.

    `folder` is on the disk that can be full.
    """

    def __init__(self, folder: Path, postgres: object, redis: object, mounted: bool, slots: int) -> None:
        self.folder, self.postgres, self.redis, self.mounted, self.slots = folder, postgres, redis, mounted, slots
        self.port = free_port()
        self.web = web_tree(self.port, self._environment("web"), folder.parent / "web.log")
        self.worker = self._worker()

    @property
    def parts(self) -> tuple[Tree, Tree]:
        return self.web, self.worker

    def _worker(self) -> Tree:
        program = str(Path(sys.executable).with_name("foilworks"))
        log = self.folder.parent / "worker.log"
        return Tree(
            "worker", [program, "worker", "--cpu", "--slots", str(self.slots)], self._environment("worker"), log
        )

    def _environment(self, host: str) -> dict[str, str]:
        home = self.folder / host
        home.mkdir(exist_ok=True)
        return {**os.environ, "FOILWORKS_HOME": str(home), "OMP_NUM_THREADS": "1"}

    def kill_postgres(self) -> None:
        kill_all([psutil.Process(self.postgres.process.pid)])

    def start_postgres(self) -> None:
        """Start it as a service manager does: retry until it stays up.

        A killed server's memory may be held for a moment.
        """
        self.postgres.process.poll()
        for attempt in range(40):
            try:
                self.postgres.start()
            except AssertionError:
                if attempt == 39:
                    raise
                time.sleep(0.1)
            else:
                return

    def revive(self) -> list[str]:
        """Restart what is dead; return the names."""
        dead = []
        if self.postgres.process.poll() is not None:
            self.start_postgres()
            dead.append("postgres")
        if not self.redis.is_alive():
            self.redis.start()
            dead.append("redis")
        for tree in self.parts:
            if not tree.alive():
                tree.kill()
                tree.start()
                dead.append(tree.name)
        return dead

    def fill_disk(self) -> None:
        """Fill the tmpfs to the last byte."""
        descriptor = os.open(self.folder / "ballast", os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            size = 0
            for step in (1 << 24, 1 << 20, 1 << 16, 1 << 12):
                with suppress(OSError):
                    while True:
                        os.posix_fallocate(descriptor, size, step)
                        size += step
        finally:
            os.close(descriptor)

    def make_room(self) -> None:
        (self.folder / "ballast").unlink(missing_ok=True)


@contextmanager
def topology(slots: int) -> Iterator[Topology]:
    """Run the servers, create the tables, join this process to them, and start web and worker."""
    from foilworks.site.supervisor.embedded_redis import EmbeddedRedis
    from tests.postgres import running_postgres

    with ExitStack() as stack:
        outer = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fw-soak-", ignore_cleanup_errors=True)))
        outer.chmod(0o755)
        folder = outer / "disk"
        folder.mkdir(mode=0o755)
        mounted = _mounted(folder)
        if mounted:
            stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=False)
        postgres = stack.enter_context(running_postgres(folder, **POSTGRES))
        redis = EmbeddedRedis(folder / "queue")
        assert redis.acquire()
        redis.start()
        stack.callback(redis.release)
        stack.callback(redis.stop)
        (folder / "shared").mkdir()
        os.environ |= {
            "DATABASE_URL": postgres.make("soak"),
            "REDIS_URL": redis_url(folder / "queue"),
            "STORAGE_URL": f"file://{folder / 'shared/media'}",
            "FOILWORKS_HOME": str(outer / "here"),
            "SECRET_KEY": "of a home that is gone in an hour",
            "FOILWORKS_LEASE_SECONDS": "3",
            "FOILWORKS_SHARD_ITEMS": "4",
            "API_RATE_LIMIT_PER_MINUTE": "0",
            "DJANGO_SETTINGS_MODULE": "foilworks.site.settings",
        }
        make_tables()
        found = Topology(folder, postgres, redis, mounted, slots)
        stack.callback(found.make_room)
        for tree in found.parts:
            stack.callback(tree.stop)
            tree.start()
        wait_for(found.web, found.port)
        yield found


def _mounted(folder: Path) -> bool:
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
