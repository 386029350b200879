"""Both engines, RQ and Ray, as `foilworks worker` starts them: what was queued runs once, whatever dies meanwhile."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.db import connection

from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import cancel, enqueue, retry
from tests.jobs.conftest import RedisServer
from tests.ports import redis_url
from tests.ray_cluster import running_cluster
from tests.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
FOILWORKS = Path(sys.executable).with_name("foilworks")
SAMPLES = "samples"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow(seconds=25)]


class Engine:
    """`foilworks worker` with the options of an engine, in a home of its own, on this test's database."""

    def __init__(self, options: str, environment: dict[str, str]) -> None:
        self.options, self.environment = options.split(), environment

    def start(self, *options: str) -> psutil.Popen:
        command = [FOILWORKS, "worker", *self.options, *options]
        return psutil.Popen(command, cwd=ROOT, env=self.environment, stderr=subprocess.PIPE, text=True)

    def work(self) -> str:
        """Run until no job is open; what the engine said."""
        process = self.start("--until-empty")
        said = process.communicate(timeout=PATIENCE_SECONDS)[1]
        assert process.returncode == 0, said
        return said


def environment_of(home: Path, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FOILWORKS_"))}
    name = connection.settings_dict["NAME"]
    own = {"FOILWORKS_HOME": str(home), "DATABASE_URL": f"sqlite://{name}", "FOILWORKS_LEASE_SECONDS": "15"}
    own["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    return {**inherited, "PYTHONPATH": str(ROOT), **own, **more}


@pytest.fixture(scope="module")
def cluster_address(django_db_setup, tmp_path_factory) -> Iterator[str]:
    with running_cluster(environment_of(tmp_path_factory.mktemp("node")), 2) as cluster:
        yield cluster.address


@pytest.fixture(params=["rq", pytest.param("ray", marks=pytest.mark.machines)])
def engine(request, redis_server: RedisServer, tmp_path, monkeypatch) -> Engine:
    # On SQLite the second process must find the tables that the first one left.
    if request.param == "rq":
        return Engine("--cpu --queue gpu", environment_of(tmp_path, REDIS_URL=redis_url(redis_server.home)))
    address = request.getfixturevalue("cluster_address")
    monkeypatch.setattr(settings, "RAY_ADDRESS", address)
    return Engine("--ray --slots 2", environment_of(tmp_path, RAY_ADDRESS=address))


def queued(name: str, target_id: int = 2, **fields) -> Job:
    return enqueue(f"{SAMPLES}.{name}", target_id, queue="gpu", **fields)


def test_what_was_queued_runs_once_and_failures_are_stored(engine):
    jobs = {name: queued(name) for name in ("count", "refuse", "stumble", "kill_the_worker_once")}
    whole, broken = queued("in_parts", 3, route="fake:1"), queued("in_parts", -3, route="fake:2")
    stopped = queued("wait_long", route="fake:3")
    process = engine.start("--until-empty")
    log = lambda: process.kill() or process.communicate()[1]  # noqa: E731
    wait_until(lambda: row(stopped).done > 2, processes=[process], log=log)
    assert cancel(stopped)
    said = process.communicate(timeout=PATIENCE_SECONDS)[1]
    # Some of the jobs failed.
    assert process.returncode == 1, said
    found = {name: Job.objects.get(pk=job.pk) for name, job in jobs.items()}
    assert {name: (job.state, job.attempts, job.losses) for name, job in found.items()} == {
        "count": ("done", 1, 0),
        "refuse": ("failed", 1, 0),
        "stumble": ("failed", 1, 0),
        "kill_the_worker_once": ("done", 2, 1),
    }, said
    assert found["refuse"].error == "video 2 has no file; attach one"
    assert found["stumble"].error.startswith("Internal error of Foilworks (ZeroDivisionError)")
    for job in (whole, broken, stopped):
        job.refresh_from_db()
    assert (whole.state, whole.message, whole.attempts) == ("done", "collected 3 of 3, carried too", 2)
    assert {shard.attempts for shard in whole.shards.all()} == {1}
    assert broken.shards.get(number=2).error == "part 2 has no file"
    assert stopped.state == "cancelled"


@pytest.mark.full
def test_a_stopped_engine_leaves_its_job_to_the_next_one(engine):
    left = queued("wait_long")
    process = engine.start()
    wait_until(lambda: row(left).done > 2, processes=[process], log=lambda: process.kill() or process.communicate()[1])
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=PATIENCE_SECONDS)[1]
    assert (row(left).state, row(left).losses) == ("waiting", 0), said
    # It also runs again after a stop on its page.
    assert cancel(row(left))
    Job.objects.update(dotted=f"{SAMPLES}.count")
    assert retry(row(left))
    said = engine.work()
    assert (row(left).state, row(left).attempts) == ("done", 2), said


def row(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)
