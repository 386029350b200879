"""Foilworks as processes on one machine, for programs that kill them: a web server, a host of workers, a Redis and a
PostgreSQL, each with a folder of its own on a small disk of their own. Nothing is restarted that nobody restarts: the
programs under test restart what they promise to, this module what a service manager would.

The disk is a tmpfs where mounting is allowed (root), so that it can really be full. The clocks of web and workers are
those of the machine plus an offset, by a small library in front of libc, where a C compiler is found.
"""

import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
from _served import ROOT, answers_at

from tests.ports import free_port

DISK_BYTES = 1024 * 1024 * 1024
# Durable against a killed server: what was committed has left its process.
POSTGRES = {"synchronous_commit": "on", "full_page_writes": "on", "max_connections": "120"}
CLOCK_LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *ahead;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("SOAK_CLOCK");
    real = dlsym(RTLD_NEXT, "clock_gettime");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) ahead = page;
    close(file);
}

int clock_gettime(clockid_t id, struct timespec *now) {
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(id, now);
    if (!failed && ahead && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += *ahead;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec at;
    if (clock_gettime(CLOCK_REALTIME, &at)) return -1;
    now->tv_sec = at.tv_sec;
    now->tv_usec = at.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (now) *now = at.tv_sec;
    return at.tv_sec;
}
"""


class Clock:
    """The clock of some processes: the machine's, so many seconds ahead (or behind)."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(8))
        self.path = path
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), 8)

    def jump(self, seconds: int) -> None:
        self._page[:8] = struct.pack("=q", seconds)

    @property
    def ahead(self) -> int:
        return struct.unpack("=q", self._page[:8])[0]


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
        """All of it at once, as a host without power."""
        kill_all([self.process] if self.process else [])

    def stop(self) -> None:
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
            with suppress(psutil.TimeoutExpired):
                self.process.wait(20)
        self.kill()


def kill_all(roots: list[psutil.Process]) -> None:
    """SIGKILL to the processes and all below them, stopped first, so that none of them reacts to the end of another."""
    found: list[psutil.Process] = []
    for root in roots:
        with suppress(psutil.Error):
            found += [*root.children(recursive=True), root]
    for step in ("suspend", "kill"):
        for process in found:
            with suppress(psutil.Error):
                getattr(process, step)()
    psutil.wait_procs(found, timeout=20)


class Topology:
    """`web` and `worker` are trees, `postgres` and `redis` servers; `folder` is on the disk that can be full."""

    def __init__(
        self, folder: Path, postgres: object, redis: object, clocks: dict[str, Clock], mounted: bool, slots: int
    ) -> None:
        self.folder, self.postgres, self.redis, self.clocks, self.mounted = folder, postgres, redis, clocks, mounted
        self.slots = slots
        self.port = free_port()
        self.web, self.worker = self._web(), self._worker()

    @property
    def parts(self) -> tuple[Tree, Tree]:
        return self.web, self.worker

    def _web(self) -> Tree:
        from foilworks.supervisor.services import GUNICORN

        told = f"foilworks.wsgi:application --bind 127.0.0.1:{self.port} {GUNICORN} --graceful-timeout 2"
        command = [sys.executable, "-m", "gunicorn", *told.split(), "--log-level", "warning"]
        return Tree("web", command, self._environment("web"), self.folder.parent / "web.log")

    def _worker(self) -> Tree:
        program = str(Path(sys.executable).with_name("foilworks"))
        log = self.folder.parent / "worker.log"
        return Tree(
            "worker", [program, "worker", "--cpu", "--slots", str(self.slots)], self._environment("worker"), log
        )

    def _environment(self, host: str) -> dict[str, str]:
        home = self.folder / host
        home.mkdir(exist_ok=True)
        found = {**os.environ, "FOILWORKS_HOME": str(home), "OMP_NUM_THREADS": "1"}
        if clock := self.clocks.get(host):
            library = str(self.folder.parent / "clock.so")
            found |= {"LD_PRELOAD": library, "SOAK_CLOCK": str(clock.path)}
        return found

    def wait_for_web(self, seconds: float = 60.0) -> None:
        until = time.monotonic() + seconds
        while not answers_at(self.port):
            if time.monotonic() > until:
                raise RuntimeError(f"the web server does not answer: {self.web.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def kill_postgres(self) -> None:
        kill_all([psutil.Process(self.postgres.process.pid)])

    def start_postgres(self) -> None:
        """As a service manager: until it stays up. A killed server's memory may be held for a moment."""
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
        """Starts again what is dead; the names of those."""
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

    def fill_disk(self) -> int:
        """Not a byte more can be written: the tmpfs is full, or, where none could be mounted, files may not grow.

        How many processes are concerned; those of another user cannot be limited without a right that containers lack.
        """
        if not self.mounted:
            return self._limit(8192)
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
        return len(psutil.Process(self.postgres.process.pid).children()) + 1

    def make_room(self) -> None:
        (self.folder / "ballast").unlink(missing_ok=True)
        # A process has the limit of the one that began it, and one may just be beginning another.
        while not self.mounted and self._limit(None):
            pass

    def _limit(self, size: int | None) -> int:
        """Of all that run now, also what was begun since the last time; how many had another one."""
        limited = 0
        for process in self._processes():
            with suppress(psutil.Error, ValueError, OSError):
                soft, hard = process.rlimit(psutil.RLIMIT_FSIZE)
                wanted = hard if size is None else size
                if soft != wanted:
                    process.rlimit(psutil.RLIMIT_FSIZE, (wanted, hard))
                    limited += 1
        return limited

    def _processes(self) -> list[psutil.Process]:
        found = []
        for server in (self.postgres.process, *(tree.process for tree in self.parts if tree.alive())):
            with suppress(psutil.Error):
                root = psutil.Process(server.pid)
                found += [root, *root.children(recursive=True)]
        return found


@contextmanager
def topology(slots: int) -> Iterator[Topology]:
    """The servers run, the tables are made, this process is set up as a part of it; web and worker are started."""
    from foilworks.supervisor.embedded_redis import EmbeddedRedis
    from foilworks.supervisor.redis_socket import redis_url
    from tests.postgres import running_postgres

    with ExitStack() as stack:
        outer = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fw-soak-", ignore_cleanup_errors=True)))
        outer.chmod(0o755)
        folder = outer / "disk"
        folder.mkdir(mode=0o755)
        mounted = _mounted(folder)
        if mounted:
            stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=False)
        clocks = _clocks(outer)
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
            "API_REQUESTS_A_MINUTE": "0",
            "DJANGO_SETTINGS_MODULE": "foilworks.settings",
        }
        _make_tables()
        found = Topology(folder, postgres, redis, clocks, mounted, slots)
        stack.callback(found.make_room)
        for tree in found.parts:
            stack.callback(tree.stop)
            tree.start()
        found.wait_for_web()
        yield found


class _FromModels:
    """In the place of MIGRATION_MODULES: no app has migrations, so tables come from the models, ten times as fast."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


def _make_tables() -> None:
    import django
    from django.core.management import call_command
    from django.test import override_settings

    django.setup()
    with override_settings(MIGRATION_MODULES=_FromModels()):
        call_command("migrate", verbosity=0, run_syncdb=True)


def _mounted(folder: Path) -> bool:
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _clocks(folder: Path) -> dict[str, Clock]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return {}
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(CLOCK_LIBRARY)
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return {}
    return {host: Clock(folder / f"{host}.clock") for host in ("web", "worker")}
