"""A job in shards: who does them, in what order, how many of a project at once, and how the job goes on afterwards."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_rq import get_queue

from foilworks.core.jobs import affinity_worker, runner
from foilworks.core.jobs.affinity_worker import ModelAffinityWorker
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.lease import claim
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import MAX_LOSSES, cancel, dispatch, enqueue, lane_name, requeue_lost, retry
from foilworks.core.jobs.runner import execute, run_now
from foilworks.core.jobs.spread import QueueRunner
from tests.jobs.conftest import RedisServer

WORK = "samples.in_parts"


def spread_job(parts: int = 3, **fields) -> Job:
    job = enqueue(WORK, parts, **fields)
    execute(str(job.pk))
    job.refresh_from_db()
    return job


def states(job: Job) -> list[str]:
    return list(job.shards.order_by("number").values_list("state", flat=True))


def run_shards(job: Job) -> None:
    for shard in job.shards.order_by("number"):
        execute(str(shard.pk))


@pytest.mark.django_db
def test_a_job_in_shards_waits_for_them_and_then_collects(django_capture_on_commit_callbacks):
    job = spread_job()
    assert (job.state, job.shown_state, job.lease_until, job.is_over) == ("spread", "running", None, False)
    shards = list(job.shards.order_by("number"))
    assert [(s.number, s.payload, s.total, s.queue, s.target_id) for s in shards] == [
        (number, {"part": number}, 10, "default", 3) for number in (1, 2, 3)
    ]
    execute(str(job.pk))
    assert Job.objects.get(pk=job.pk).attempts == 1, "nobody runs it while a shard is open"
    for number, shard in enumerate(shards, 1):
        with django_capture_on_commit_callbacks():
            execute(str(shard.pk))
        job.refresh_from_db()
        assert (job.state, job.done, job.total) == ("spread" if number < 3 else "waiting", 10 * number, 30)
    execute(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.message, job.attempts) == ("done", "collected 3 of 3, carried too", 2)


@pytest.mark.django_db
def test_in_process_everything_runs_in_one_call():
    job = run_now(enqueue(WORK, 4))
    assert (job.state, job.done) == ("done", 40)
    assert states(job) == ["done"] * 4


@pytest.mark.django_db
def test_a_shard_that_fails_in_process_ends_the_job_and_a_retry_does_the_rest():
    job = enqueue(WORK, -3)
    with pytest.raises(JobError, match="part 2 has no file"):
        run_now(job)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "part 2 has no file")
    assert states(job) == ["done", "failed", "cancelled"]
    first = job.shards.get(number=1).finished_at
    Job.objects.filter(parent=job).update(target_id=3)
    assert retry(job)
    job.refresh_from_db()
    assert (job.state, states(job)) == ("spread", ["done", "waiting", "waiting"])
    run_shards(job)
    execute(str(job.pk))
    job.refresh_from_db()
    assert (job.state, states(job)) == ("done", ["done"] * 3)
    assert job.shards.get(number=1).finished_at == first


@pytest.mark.django_db
def test_after_three_failed_shards_the_others_are_not_tried(monkeypatch):
    monkeypatch.setattr(runner, "MAX_FAILED_SHARDS", 1)
    job = spread_job(-5)
    execute(str(job.shards.get(number=1).pk))
    with pytest.raises(JobError):
        execute(str(job.shards.get(number=2).pk))
    assert states(job) == ["done", "failed", "cancelled", "cancelled", "cancelled"]
    job.refresh_from_db()
    assert job.state == JobState.WAITING, "it is taken up to say why"


@pytest.mark.django_db
def test_cancelling_the_job_cancels_its_shards():
    job = spread_job()
    running = claim(str(job.shards.get(number=1).pk))
    assert cancel(job)
    assert states(job) == ["cancelled"] * 3
    execute(str(running.pk))
    assert Job.objects.get(pk=running.pk).state == JobState.CANCELLED


@pytest.mark.django_db
def test_a_shard_whose_worker_died_too_often_resumes_the_job():
    job = spread_job(1)
    late = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(parent=job).update(state=JobState.RUNNING, losses=MAX_LOSSES - 1, lease_until=late)
    requeue_lost()
    job.refresh_from_db()
    assert (job.state, states(job)) == ("waiting", ["failed"])


@pytest.mark.django_db(transaction=True)
def test_workers_run_the_shards_and_one_of_them_collects(redis_server: RedisServer):
    job = enqueue(WORK, 3)
    ended = QueueRunner().collect(job)
    redis_server.worker().work(burst=True)
    assert list(ended)
    assert states(job) == ["done"] * 3
    job.refresh_from_db()
    assert (job.state, job.attempts, {shard.attempts for shard in job.shards.all()}) == ("done", 2, {1})


def waiting_in(queue: str, route: str = "") -> list[str]:
    return get_queue("default").connection.lrange(f"rq:queue:{lane_name(queue, route)}", 0, -1)


@pytest.mark.django_db(transaction=True)
def test_a_project_has_at_most_its_quota_of_jobs_dispatched(redis_server, settings):
    settings.GPU_QUOTA = 2
    jobs = [enqueue("samples.count", 1, queue="gpu", project_id=1) for _ in range(5)]
    others = [enqueue("samples.count", 1, queue="gpu", project_id=2)]
    free = [enqueue("samples.count", 1, queue="default", project_id=1) for _ in range(3)]
    assert len(waiting_in("gpu")) == 3, "two of the one project, one of the other"
    assert len(waiting_in("default")) == 3
    assert dispatch(Job.objects.all()) == 0
    # Each one that ends lets the next one go, until none is left.
    redis_server.worker().work(burst=True)
    assert set(Job.objects.values_list("state", flat=True)) == {"done"}
    assert Job.objects.count() == len(jobs + others + free)
    started = Job.objects.filter(project_id=1, queue="gpu").order_by("started_at").values_list("pk", flat=True)
    assert list(started) == [job.pk for job in jobs]


class Guest(ModelAffinityWorker):
    def _install_signal_handlers(self) -> None:
        pass


@pytest.fixture
def worker(redis_server) -> ModelAffinityWorker:
    queues = [get_queue("default"), get_queue("gpu")]
    return Guest(queues, connection=queues[0].connection, serializer=queues[0].serializer)


@pytest.mark.django_db(transaction=True)
def test_a_message_that_is_delivered_twice_ends_without_an_error(worker, caplog):
    job = enqueue("samples.end_like_a_second_delivery", 1)
    with caplog.at_level("INFO", "foilworks.core.jobs.affinity_worker"):
        worker.work(burst=True, logging_level="ERROR")
    job.refresh_from_db()
    assert job.state == "done"
    assert f"the message of job {job.pk} was delivered twice" in caplog.text
    assert "Traceback" not in caplog.text
    assert get_queue("default").started_job_registry.get_job_ids() == []


def routes_in_order() -> list[str]:
    return list(Job.objects.order_by("started_at").values_list("route", flat=True))


@pytest.mark.django_db(transaction=True)
def test_a_worker_prefers_jobs_of_its_model(worker, settings):
    settings.GPU_QUOTA = 0
    for _ in range(3):
        for route in ("clip:a", "vlm:b"):
            enqueue("samples.count", 1, queue="gpu", route=route)
    worker.work(burst=True)
    first, second = routes_in_order()[0], routes_in_order()[-1]
    assert routes_in_order() == [first] * 3 + [second] * 3
    assert {first, second} == {"clip:a", "vlm:b"}


@pytest.mark.django_db(transaction=True)
def test_a_long_run_does_not_block_another_model_or_short_jobs(worker, settings, monkeypatch):
    settings.GPU_QUOTA = 0
    monkeypatch.setattr(affinity_worker, "MAX_CONSECUTIVE_JOBS", 2)
    for _ in range(5):
        enqueue("samples.count", 1, queue="gpu", route="clip:a")
    enqueue("samples.count", 1, queue="gpu", route="vlm:b")
    enqueue("samples.count", 1)
    worker.work(burst=True)
    order = routes_in_order()
    assert order[0] == "", "short work first"
    assert order.index("vlm:b") <= 3
    assert order.count("clip:a") == 5


@pytest.mark.django_db
def test_a_row_names_its_worker():
    job = run_now(enqueue("samples.count", 1))
    host, _, number = job.worker.rpartition(":")
    assert host
    assert number.isdecimal()
