"""Queueing: a row in the caller's transaction, its id on a real Redis after the commit, and what survives losses."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_rq import get_queue

from foilworks.core.jobs import queue
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import (
    MAX_LOSSES,
    cancel,
    enqueue,
    is_reachable,
    no_worker_hint,
    push,
    requeue_lost,
    retry,
    wait,
    worker_count,
)
from foilworks.site.supervisor.embedded_redis import client_of

COUNT = "samples.count"


def on_redis(name: str = "default") -> list[str]:
    return get_queue(name).job_ids


def old_job(**fields) -> Job:
    """A row whose way to Redis is long over."""
    job = Job.objects.create(dotted=COUNT, target_id=1, **fields)
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(minutes=5))
    return job


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    ["os.system", "generation.actions.start", "generation.jobs", "jobs.run", "a.jobs.b; import os", "../x.jobs.y", ""],
)
def test_only_declared_jobs_can_be_queued(name):
    with pytest.raises(JobError, match="is not a job; declare it in JOBS"):
        enqueue(name, 1)
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_an_unknown_queue_is_refused_with_the_known_ones():
    with pytest.raises(JobError, match="no queue 'fast'; choose one of: default, gpu"):
        enqueue(COUNT, 1, queue="fast")


@pytest.mark.django_db(transaction=True)
def test_redis_gets_a_job_only_after_the_commit(redis_server):
    with transaction.atomic():
        job = enqueue(COUNT, 3, queue="gpu", title="Count to three", project_id=7)
        assert on_redis("gpu") == []
    assert on_redis("gpu") == [str(job.pk)]
    message = get_queue("gpu").fetch_job(str(job.pk))
    # The message carries the row's id and nothing else, as JSON.
    assert (message.func_name, message.args, message.kwargs) == (
        "foilworks.core.jobs.runner.execute",
        [str(job.pk)],
        {},
    )
    assert message.description == "Count to three"
    row = Job.objects.get()
    assert (row.state, row.queue, row.target_id, row.project_id) == ("waiting", "gpu", 3, 7)


@pytest.mark.django_db(transaction=True)
def test_a_rollback_leaves_neither_row_nor_message(redis_server):
    with transaction.atomic():
        enqueue(COUNT, 3)
        transaction.set_rollback(True)
    assert on_redis() == []
    assert not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_without_redis_the_row_waits_and_is_pushed_later(redis_server, caplog):
    redis_server.stop()
    assert not is_reachable()
    job = enqueue(COUNT, 3)
    assert not push(job)
    assert "start `foilworks worker` or `foilworks up`" in no_worker_hint()
    assert requeue_lost() == 0
    assert "cannot reach the queue" in caplog.text
    redis_server.start()
    assert is_reachable()
    assert on_redis() == []
    Job.objects.update(created_at=timezone.now())
    assert requeue_lost() == 0, "a row this young may still be on its way"
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    assert requeue_lost() == 1
    assert requeue_lost() == 0, "Redis knows it now"
    assert on_redis() == [str(job.pk)]


@pytest.mark.django_db(transaction=True)
def test_a_row_from_the_future_is_not_too_young(redis_server):
    """By a host whose clock was ahead, before Redis was lost."""
    job = old_job()
    Job.objects.update(created_at=timezone.now() + timedelta(hours=3))
    assert requeue_lost() == 1
    assert on_redis() == [str(job.pk)]


@pytest.mark.django_db(transaction=True)
def test_the_lock_of_a_dead_dispatcher_expires_soon(redis_server):
    old_job()
    client = client_of(redis_server.home)
    held = client.lock("foilworks:dispatch", timeout=0.2)
    assert held.acquire()
    client.close()
    assert requeue_lost() == 1


@pytest.mark.django_db(transaction=True)
def test_a_job_whose_worker_died_is_queued_again(redis_server):
    late, now = timezone.now() - timedelta(seconds=1), timezone.now()
    dead = old_job(state=JobState.RUNNING, attempts=1, lease_until=late)
    alive = old_job(state=JobState.RUNNING, attempts=1, lease_until=now + timedelta(seconds=30))
    over = old_job(state=JobState.DONE)
    assert requeue_lost() == 1
    assert on_redis() == [str(dead.pk)]
    states = dict(Job.objects.values_list("pk", "state"))
    assert states == {dead.pk: "waiting", alive.pk: "running", over.pk: "done"}


@pytest.mark.django_db(transaction=True)
def test_a_job_that_keeps_killing_its_worker_fails(redis_server):
    late = timezone.now() - timedelta(seconds=1)
    job = old_job(state=JobState.RUNNING, attempts=9, losses=MAX_LOSSES - 1, lease_until=late)
    assert requeue_lost() == 0
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert f"died {MAX_LOSSES} times" in job.error
    assert on_redis() == []


@pytest.mark.django_db(transaction=True)
def test_attempts_that_ended_normally_are_not_counted_as_losses(redis_server):
    late = timezone.now() - timedelta(seconds=1)
    job = old_job(state=JobState.RUNNING, attempts=9, lease_until=late)
    assert requeue_lost() == 1
    job.refresh_from_db()
    assert (job.state, job.attempts, job.losses) == ("waiting", 9, 1)


@pytest.mark.django_db(transaction=True)
def test_the_queue_survives_a_killed_redis(redis_server):
    jobs = [enqueue(COUNT, number) for number in range(5)]
    # The append-only file is written at every second.
    redis_server.wait_for_the_disk()
    redis_server.kill()
    redis_server.start()
    assert on_redis() == [str(job.pk) for job in jobs]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("state", "cancelled", "retried"),
    [
        ("waiting", True, False),
        ("running", True, False),
        ("done", False, False),
        ("failed", False, True),
        ("cancelled", False, True),
    ],
)
def test_cancel_ends_open_jobs_and_retry_reopens_ended_ones(redis_server, state, cancelled, retried):
    job = old_job(state=state, attempts=3, losses=2, error="no file")
    assert cancel(job) is cancelled
    assert Job.objects.get().state == ("cancelled" if cancelled else state)
    Job.objects.update(state=state)
    assert retry(job) is retried
    row = Job.objects.get()
    assert (row.state, row.losses, row.error) == (("waiting", 0, "") if retried else (state, 2, "no file"))
    assert row.attempts == 3, "the token of whoever may still be at it is never given out again"
    assert on_redis() == ([str(job.pk)] if retried else [])


@pytest.mark.django_db
def test_waiting_for_jobs_names_the_one_that_failed():
    done = Job.objects.create(dotted=COUNT, target_id=1, state="done")
    failed = Job.objects.create(dotted=COUNT, target_id=1, title="Probe clip 4", state="failed", error="no file")
    assert wait([done]) == [done]
    with pytest.raises(JobError, match=r"Probe clip 4 \(failed\): no file"):
        wait([done, failed])
    late = Job.objects.create(dotted=COUNT, target_id=1, title="Score")
    with pytest.raises(JobError, match=r"Score .* is not done after 0 s"):
        wait([late], timeout_s=0)


def test_every_queue_uses_json():
    assert {name: options["SERIALIZER"] for name, options in settings.RQ_QUEUES.items()} == {
        "default": "rq.serializers.JSONSerializer",
        "gpu": "rq.serializers.JSONSerializer",
    }
    assert queue.EXECUTE == "foilworks.core.jobs.runner.execute"


@pytest.mark.django_db(transaction=True)
def test_pushing_twice_runs_once(redis_server):
    job = enqueue(COUNT, 3)
    assert push(job)
    worker = redis_server.worker()
    worker.work(burst=True)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.done, job.total) == ("done", 1, 3, 3)


@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_is_counted_no_more(redis_server):
    idle, busy = redis_server.worker(), redis_server.worker()
    idle.register_birth()
    busy.register_birth()
    assert worker_count() == 2
    # Redis does this to the key of an idle worker that shows no sign of life.
    idle.connection.delete(idle.key)
    assert worker_count() == 1
    job = Job.objects.create(
        dotted=COUNT, target_id=1, state="running", lease_until=timezone.now() + timedelta(hours=1)
    )
    busy.set_current_job_id(str(job.pk))
    assert worker_count() == 1
    Job.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    assert worker_count() == 0
