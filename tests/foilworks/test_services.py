"""`foilworks up` and what runs beside a command, as real processes in a home of their own."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from django.templatetags.static import static

from foilworks.site.supervisor.redis_socket import redis_folder
from tests.foilworks.test_processes import runs
from tests.waiting import wait_until

pytestmark = pytest.mark.slow(seconds=6)
ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = sys.executable
JOBS = """
import json, sys
import django
django.setup()
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue, wait
names = sys.argv[1:]
jobs = wait([enqueue(f"samples.{name}", 5) for name in names], timeout_s=600)
print(json.dumps([[job.state, job.attempts, job.done] for job in jobs]))
"""
BESIDE = """
import django
django.setup()
from django.core.management import call_command
from foilworks.site.supervisor.services import services
from foilworks.core.jobs.queue import enqueue, wait
call_command("migrate", verbosity=0)
with services(workers=1) as supervisor:
    job, = wait([enqueue("samples.count", 5)], timeout_s=600)
    print(job.state, [child.name for child in supervisor.children])
    sys = __import__("sys")
    print(sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "transformers", "spacy"}))
"""


def run(home: Path, *arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [PYTHON, *arguments], env=environment(home), cwd=ROOT, capture_output=True, text=True, check=False, **options
    )


def environment(home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "FOILWORKS_HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }


def get(address: str, path: str = "/") -> int:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
    connection.request("GET", path)
    status = connection.getresponse().status
    connection.close()
    return status


class Up:
    """A running `foilworks up --port 0`."""

    def __init__(self, home: Path, process: subprocess.Popen) -> None:
        self.home = home
        self.process = process
        self.lines: list[str] = []

    def address(self) -> str:
        for line in self.process.stderr:
            self.lines.append(line)
            if line.startswith("Foilworks is at "):
                return line.split()[3]
        raise AssertionError("".join(self.lines))

    def children(self) -> dict[int, str]:
        """pid -> command line of the processes that `up` started itself."""
        return {child.pid: _arguments(child) for child in psutil.Process(self.process.pid).children()}

    def workers(self) -> list[int]:
        """Their pids; where setproctitle is installed, as `make mutations` does, rq gives them another name."""
        names = ("supervisor.worker", "rq:worker")
        return [pid for pid, said in self.children().items() if any(name in said for name in names)]


def _arguments(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        # It ended in this moment.
        return ""


@pytest.fixture
def up(tmp_path) -> Iterator[Up]:
    # A folder of the user's whose files are called as packages of ours: no process may take them for those.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("jobs.py", "text.py"):
        (elsewhere / name).write_text("raise RuntimeError('a file of the working directory was imported')\n")
    command = [PYTHON, ROOT / "manage.py", "up", "--port", "0", "--workers", "1", "--json"]
    process = subprocess.Popen(
        command, env=environment(tmp_path), cwd=elsewhere, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield Up(tmp_path, process)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=600)
    process.stdout.close()
    process.stderr.close()


def test_up_serves_runs_jobs_survives_a_killed_worker_and_stops_everything(up):
    address = up.address()
    assert get(address, "/healthz") == 200
    assert get(address, static("django_htmx/htmx-2.min.js")) == 200
    assert get(address, "/no-such-page") in {302, 404}

    second = run(up.home, "manage.py", "up", "--port", "0", timeout=600)
    assert second.returncode == 1
    assert f"already runs for {up.home} (process {up.process.pid}, {address})" in second.stderr

    done = run(up.home, "-c", JOBS, "count", "count", timeout=600)
    assert json.loads(done.stdout) == [["done", 1, 5], ["done", 1, 5]], done.stderr

    (worker,) = up.workers()
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: up.workers() and worker not in up.workers())

    pids = list(up.children())
    assert len(pids) == 3, "redis, a worker, the web"
    up.process.send_signal(signal.SIGINT)
    stdout, _ = up.process.communicate(timeout=600)
    assert up.process.returncode == 0
    assert json.loads(stdout) == {"address": address, "workers": 1, "stopped": True}
    assert not [pid for pid in pids if runs(pid)]


@pytest.mark.machines
def test_a_killed_up_leaves_no_python_behind_and_the_next_one_takes_over(up):
    up.address()
    children = up.children()
    up.process.kill()
    up.process.wait()
    wait_until(lambda: not [pid for pid, arguments in children.items() if "redis" not in arguments and runs(pid)])
    beside = run(up.home, "-c", BESIDE, timeout=600)
    assert beside.stdout.splitlines()[0] == "done ['redis', 'worker-1']", beside.stderr
    assert "an earlier, killed process left" in beside.stderr
    assert not [pid for pid in children if runs(pid)]


def test_services_run_beside_a_command_and_load_no_model_library_into_it(tmp_path):
    done = run(tmp_path, "-c", BESIDE, timeout=600)
    assert done.stdout.splitlines() == ["done ['redis', 'worker-1']", "[]"], done.stderr
    assert (tmp_path / "logs/worker-1.log").exists()
    assert not (redis_folder(tmp_path) / "redis.sock").exists()


FIRST = """
import sys
import django
django.setup()
from django.core.management import call_command
from foilworks.site.supervisor.services import services
call_command("migrate", verbosity=0)
with services(workers=1):
    print("at work", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.full
def test_up_beside_a_demo_runs_the_queue_itself_once_that_one_has_ended(tmp_path, request):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([PYTHON, "-c", FIRST], env=environment(tmp_path), cwd=ROOT, **pipes) as first:
        assert first.stdout.readline() == "at work\n"
        up = request.getfixturevalue("up")
        up.address()
        assert not [said for said in up.children().values() if "redis-server" in said], "there are two of them"
        first.communicate("end\n", timeout=600)
    assert first.returncode == 0
    done = run(up.home, "-c", JOBS, "count", timeout=600)
    assert json.loads(done.stdout) == [["done", 1, 5]], done.stderr


@pytest.mark.full
def test_a_port_in_use_gives_one_clear_line(up, tmp_path):
    port = urlsplit(up.address()).port
    other = run(tmp_path / "other", "manage.py", "up", "--port", str(port), timeout=600)
    assert other.returncode == 1
    assert other.stderr.startswith(f"foilworks: port {port} cannot be used")
    assert other.stderr.rstrip().endswith("choose a different one with --port")


BUSY = """
import time
import django
django.setup()
from django.core.management import call_command
from foilworks.site.supervisor.services import services
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
call_command("migrate", verbosity=0)
with services(workers=1):
    job = enqueue("samples.wait_long", 1)
    while job.state == "waiting" or job.done < 3:
        time.sleep(0.05)
        job.refresh_from_db()
job.refresh_from_db()
print(job.state, job.attempts, job.done >= 3, job.error == "")
"""


STUCK = """
import time
import django
django.setup()
from django.core.management import call_command
from foilworks.site.supervisor.services import services
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import cancel, enqueue, wait
call_command("migrate", verbosity=0)
with services(workers=1):
    silent, = wait([enqueue("samples.hold_the_lock_once", 1)], timeout_s=600)
    job = enqueue("samples.hold_the_lock_once", 1)
    while job.state != "running":
        time.sleep(0.05)
        job.refresh_from_db()
    cancel(job)
    after, = wait([enqueue("samples.count", 5)], timeout_s=600)
job.refresh_from_db()
print(silent.state, silent.attempts > 1, job.state, job.attempts, after.state, after.worker != job.worker)
"""


@pytest.mark.machines
def test_a_worker_that_still_runs_a_lost_job_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("FOILWORKS_LEASE_SECONDS", "2")
    done = run(tmp_path, "-c", STUCK, timeout=600)
    assert done.stdout == "done True cancelled 1 done True\n", done.stderr
    assert done.stderr.count("which it lost") >= 2


@pytest.mark.full
def test_a_stopped_worker_requeues_its_job(tmp_path):
    done = run(tmp_path, "-c", BUSY, timeout=600)
    assert done.stdout == "waiting 1 True True\n", done.stderr
