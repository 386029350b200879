"""Children: kept alive, stopped together, and gone when their parent is."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from foilworks.site.supervisor.errors import SupervisorError
from foilworks.site.supervisor.lock import FolderLock
from foilworks.site.supervisor.processes import PythonChild, Supervisor
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent


def runs(pid: int) -> bool:
    """A dead process whose new parent does not look after it stays in the table, but runs no more."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def child(tmp_path, monkeypatch) -> Callable[..., PythonChild]:
    """Makes children out of a few lines of Python."""
    (tmp_path / "modules").mkdir()
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'modules'}:{ROOT}")

    def make(name: str, code: str, **options) -> PythonChild:
        (tmp_path / "modules" / f"{name}.py").write_text(code)
        return PythonChild(name, name, [str(tmp_path / name)], log=tmp_path / "logs" / f"{name}.log", **options)

    return make


SLEEP = "import pathlib, sys, time\npathlib.Path(sys.argv[1]).write_text('here')\ntime.sleep(3600)\n"


def test_a_child_gets_our_environment_and_its_own_variables(child, tmp_path, monkeypatch):
    monkeypatch.setenv("OURS", "inherited")
    code = "import os\nprint(os.environ['OURS'], os.environ['OMP_NUM_THREADS'], flush=True)\n" + SLEEP
    talker = child("threads", code, variables={"OMP_NUM_THREADS": "3"})
    talker.start()
    wait_until((tmp_path / "threads").exists)
    talker.stop()
    assert (tmp_path / "logs/threads.log").read_text() == "inherited 3\n"


def test_a_child_starts_writes_its_log_and_stops(child, tmp_path):
    talker = child("talker", "print('hello', flush=True)\n" + SLEEP)
    talker.start()
    wait_until((tmp_path / "talker").exists)
    assert talker.is_alive()
    assert (tmp_path / "logs/talker.log").read_text() == "hello\n"
    pid = talker.pid
    talker.stop()
    assert not talker.is_alive()
    assert not runs(pid)
    talker.stop()


def test_a_dead_child_is_started_again_after_a_growing_pause(child, tmp_path, caplog):
    clock = "import pathlib, sys, time\npathlib.Path(sys.argv[1]).open('a').write(f'{time.time()}\\n')\n"
    with Supervisor([child("mortal", clock)]):
        first, second, third = wait_until(lambda: len(text := times(tmp_path / "mortal")) >= 3 and text[:3])
    assert second - first >= 0.5
    assert third - second >= 1.0
    assert "mortal ended unexpectedly; restart in 0.5 s" in caplog.text
    assert "mortal ended unexpectedly; restart in 1.0 s" in caplog.text


def test_the_warning_says_what_the_log_says_last(child, tmp_path, caplog):
    with Supervisor([child("misled", "import foilwork\n")]):
        wait_until(lambda: "restart" in caplog.text)
    line = "ModuleNotFoundError: No module named 'foilwork'"
    assert f"restart in 0.5 s; {tmp_path / 'logs/misled.log'} ends with: {line}" in caplog.text


def times(path: Path) -> list[float]:
    return [float(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_killed_child_restarts_and_the_others_continue(child):
    first, second = child("first", SLEEP), child("second", SLEEP)
    with Supervisor([first, second]):
        before = (first.pid, second.pid)
        os.kill(first.pid, signal.SIGKILL)
        wait_until(lambda: first.is_alive() and first.pid != before[0])
        assert second.pid == before[1]
    assert not first.is_alive()
    assert not second.is_alive()


def test_a_child_that_ignores_signals_is_killed(child, tmp_path, caplog):
    deaf = child("deaf", "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEP, patience_s=0.4)
    deaf.start()
    wait_until((tmp_path / "deaf").exists)
    pid = deaf.pid
    deaf.stop()
    assert not runs(pid)
    assert "deaf did not stop within" in caplog.text


class Frail:
    """Dead after each start but the last; each start raises what was named for it."""

    name, stops_last, log = "frail", False, None

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = list(errors)
        self.lives = False

    def start(self) -> None:
        error = self.errors.pop(0)
        if error is not None:
            raise error
        self.lives = not self.errors

    def is_alive(self) -> bool:
        return self.lives

    def stop(self) -> None:
        pass


def test_starting_a_process_is_retried_on_a_full_machine(caplog):
    frail = Frail(None, OSError(errno.EAGAIN, "no room for a process"), None)
    with Supervisor([frail]):
        wait_until(frail.is_alive)
    assert f"frail: [Errno {errno.EAGAIN}] no room for a process" in caplog.text


def test_when_one_cannot_start_the_others_are_stopped(child):
    class Broken:
        name, stops_last, log = "broken", False, None

        def start(self) -> None:
            raise SupervisorError("no such program; install it")

        def is_alive(self) -> bool:
            return False

        def stop(self) -> None:
            pass

    good = child("good", SLEEP)
    with pytest.raises(SupervisorError, match="install it"), Supervisor([good, Broken()]):
        pass
    assert not good.is_alive()


def test_children_end_with_their_parent_even_when_it_is_killed(tmp_path):
    (tmp_path / "sleeper.py").write_text(SLEEP)
    parent = (
        "import sys, time\n"
        "from foilworks.site.supervisor.processes import PythonChild\n"
        f"child = PythonChild('sleeper', 'sleeper', [{str(tmp_path / 'here')!r}])\n"
        "child.start()\nprint(child.pid, flush=True)\ntime.sleep(3600)\n"
    )
    path = f"{tmp_path}:{ROOT}"
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as process:
        pid = int(process.stdout.readline())
        wait_until((tmp_path / "here").exists)
        process.kill()
    wait_until(lambda: not runs(pid))


def test_maintenance_runs_regularly():
    done = []
    with Supervisor([], chores=[lambda: done.append(1)], chore_every_s=0.01):
        wait_until(lambda: len(done) >= 3)


def test_failed_maintenance_is_retried(caplog):
    done = []

    def chore() -> None:
        done.append(1)
        if len(done) == 1:
            raise OSError(errno.ENOSPC, "no room on the disk")

    with Supervisor([], chores=[chore], chore_every_s=0.01):
        wait_until(lambda: len(done) >= 2)
    assert "no room on the disk" in caplog.text


def test_a_lock_has_one_holder_and_names_it(tmp_path):
    first, second = FolderLock(tmp_path / "run/lock"), FolderLock(tmp_path / "run/lock")
    assert first.acquire()
    assert not second.acquire()
    assert second.holder() == f"process {os.getpid()}"
    first.note("process 12, http://127.0.0.1:8000/")
    assert second.holder() == "process 12, http://127.0.0.1:8000/"
    first.release()
    assert second.acquire("short")
    assert first.holder() == "short"
    second.release()


def test_a_lock_is_free_once_its_process_is_dead(tmp_path):
    holder = (
        "import time\nfrom pathlib import Path\nfrom foilworks.site.supervisor.lock import FolderLock\n"
        f"lock = FolderLock(Path({str(tmp_path / 'lock')!r}))\n"
        "print(lock.acquire(), flush=True)\ntime.sleep(3600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout.readline() == "True\n"
        lock = FolderLock(tmp_path / "lock")
        assert not lock.acquire()
        process.kill()
        process.wait()
        assert lock.acquire()
        lock.release()
