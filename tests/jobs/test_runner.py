"""Running: one attempt at a time, an end that is always written down, an error that people can read."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from django_rq import get_queue

from foilworks.core.jobs import lease
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.lease import Heartbeat, JobStopped, claim, write
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.queue import MAX_LOSSES, cancel, enqueue, requeue_lost, retry
from foilworks.core.jobs.runner import execute, run_now
from tests.waiting import wait_until

SAMPLES = "samples"


def a_job(name: str = "count", target_id: int = 3, **fields) -> Job:
    return Job.objects.create(dotted=f"{SAMPLES}.{name}", target_id=target_id, **fields)


@pytest.mark.django_db
def test_a_job_runs_to_its_end_and_stores_its_progress():
    job = run_now(a_job())
    assert (job.state, job.done, job.total, job.share, job.message) == ("done", 3, 3, 1.0, "3 counted")
    assert job.attempts == 1
    assert job.lease_until is None
    assert job.started_at <= job.finished_at
    assert job.is_over


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_job_that_is_over_is_not_run_again(state):
    job = a_job("stumble", state=state)
    execute(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.attempts) == (state, 0)


@pytest.mark.django_db
def test_a_job_that_another_worker_holds_does_not_run():
    job = a_job(state="running", attempts=1, lease_until=timezone.now() + timedelta(seconds=30))
    execute(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.attempts, job.done) == ("running", 1, 0)


@pytest.mark.django_db
@pytest.mark.parametrize(("state", "why"), [("failed", "no file"), ("cancelled", "it was cancelled")])
def test_running_a_job_that_failed_elsewhere_raises_its_error(state, why):
    job = a_job(state=state, error="no file" if state == "failed" else "")
    with pytest.raises(JobError, match=why):
        run_now(job)


@pytest.mark.django_db(transaction=True)
def test_run_now_waits_for_a_faster_worker():
    job = a_job(state="running", attempts=1, lease_until=timezone.now() + timedelta(seconds=30))

    def end() -> None:
        write(Job(pk=job.pk, attempts=1), state="failed", error="no file")
        connection.close()

    other = threading.Timer(0.3, end)
    other.start()
    with pytest.raises(JobError, match="no file"):
        run_now(job)
    other.join()


@pytest.mark.django_db
def test_a_job_whose_lease_ran_out_is_taken_over():
    job = run_now(a_job(state="running", attempts=1, lease_until=timezone.now() - timedelta(seconds=1)))
    assert (job.state, job.attempts, job.losses) == ("done", 2, 1)


@pytest.mark.django_db
def test_an_unknown_id_does_nothing():
    execute("00000000-0000-0000-0000-000000000000")
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_an_error_that_people_can_act_on_keeps_its_message():
    job = a_job("refuse", target_id=4)
    with pytest.raises(JobError):
        run_now(job)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "video 4 has no file; attach one")
    assert job.finished_at is not None


@pytest.mark.django_db
def test_any_other_error_is_logged_and_people_get_a_plain_message(caplog):
    job = a_job("stumble")
    with pytest.raises(ZeroDivisionError):
        run_now(job)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert job.error.startswith("Internal error of Foilworks (ZeroDivisionError)")
    assert "secret" not in job.error
    assert "a secret of the implementation" in caplog.text


@pytest.mark.django_db
def test_a_missing_function_fails_the_job():
    job = a_job("no_such_function")
    with pytest.raises(JobError, match="is not a job"):
        run_now(job)
    job.refresh_from_db()
    assert job.state == JobState.FAILED


@pytest.mark.django_db
def test_a_stopped_worker_requeues_its_job():
    job = a_job("be_interrupted")
    with pytest.raises(SystemExit):
        run_now(job)
    job.refresh_from_db()
    assert (job.state, job.error, job.lease_until, job.done, job.losses) == ("waiting", "", None, 1, 0)


@pytest.mark.django_db
def test_a_job_that_lost_the_database_waits_for_the_next_worker_a_few_times():
    job = a_job("lose_the_database", target_id=1)
    with pytest.raises(OperationalError):
        execute(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.error, job.lease_until, job.losses) == ("waiting", "", None, 1)
    assert run_now(job).state == "done"

    hopeless = a_job("lose_the_database", target_id=1, losses=MAX_LOSSES - 1)
    with pytest.raises(OperationalError):
        execute(str(hopeless.pk))
    hopeless.refresh_from_db()
    assert hopeless.state == "failed"


@pytest.mark.django_db
def test_a_full_disk_gives_a_message_with_the_remedy():
    job = a_job("fill_the_disk")
    with pytest.raises(OSError):
        execute(str(job.pk))
    job.refresh_from_db()
    assert job.state == "failed"
    assert job.error.startswith("The disk of the worker's host is full (")
    assert job.error.endswith("Free space there, then retry the job.")


@pytest.mark.django_db
@pytest.mark.parametrize("ahead", [timedelta(hours=3), -timedelta(hours=3)])
def test_a_wrong_clock_neither_takes_nor_keeps_leases(monkeypatch, ahead):
    held = claim(str(a_job().pk))
    right = timezone.now
    with monkeypatch.context() as wrong:
        wrong.setattr(timezone, "now", lambda: right() + ahead)
        assert claim(str(held.pk)) is None
        there = claim(str(a_job().pk))
    left = Job.objects.get(pk=there.pk).lease_until - right()
    assert timedelta() < left <= lease.LEASE


@pytest.mark.django_db
def test_an_attempt_that_lost_its_lease_cannot_write():
    job = claim(str(a_job().pk))
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    second = claim(str(job.pk))
    assert (job.attempts, second.attempts) == (1, 2)
    with pytest.raises(JobStopped):
        write(job, done=1)
    write(second, done=2)
    assert Job.objects.get().done == 2


@pytest.mark.django_db
def test_a_cancelled_job_stops_at_its_next_progress_and_stays_cancelled():
    job = claim(str(a_job().pk))
    assert cancel(job)
    with pytest.raises(JobStopped):
        progress(job, 1, 3)
    assert Job.objects.get().state == JobState.CANCELLED


@pytest.mark.django_db
def test_an_earlier_worker_of_a_retried_job_cannot_write():
    before = claim(str(a_job().pk))
    assert cancel(before)
    assert retry(before)
    after = claim(str(before.pk))
    assert (before.attempts, after.attempts) == (1, 2)
    with pytest.raises(JobStopped):
        write(before, state=JobState.FAILED)
    assert Job.objects.get().state == JobState.RUNNING


@pytest.mark.django_db(transaction=True)
def test_only_one_of_many_workers_gets_a_job():
    job = a_job()
    start = threading.Barrier(8)
    taken = []

    def try_to_claim() -> None:
        start.wait()
        if claim(str(job.pk)) is not None:
            taken.append(threading.get_ident())
        connection.close()

    threads = [threading.Thread(target=try_to_claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1
    assert Job.objects.get().attempts == 1


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_renews_the_lease_through_a_long_silent_step(monkeypatch):
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.02)
    job = claim(str(a_job().pk))
    first = job.lease_until
    with Heartbeat(job):
        wait_until(lambda: Job.objects.get().lease_until > first)
    assert job.lease_until == first, "the job's own instance is its own"


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_of_a_lost_lease_stops(monkeypatch):
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.01)
    job = claim(str(a_job().pk))
    Job.objects.update(attempts=2, heartbeat_at=None)
    with Heartbeat(job):
        threading.Event().wait(0.1)
    assert Job.objects.get().heartbeat_at is None


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_runs_what_was_queued_and_survives_failures(redis_server):
    jobs = [enqueue(f"{SAMPLES}.{name}", 2) for name in ("count", "refuse", "stumble", "count")]
    redis_server.worker().work(burst=True)
    states = dict(Job.objects.values_list("pk", "state"))
    assert [states[job.pk] for job in jobs] == ["done", "failed", "failed", "done"]


@pytest.mark.django_db(transaction=True)
def test_a_message_of_0_3_is_replaced_by_one_of_today(redis_server):
    """The queue outlives an update, and the function that its messages name has moved."""
    job = a_job("count")
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    queue = get_queue("default", commit_mode="auto")
    queue.enqueue_call("jobs.runner.execute", args=(str(job.pk),), job_id=str(job.pk), result_ttl=0)
    redis_server.worker().work(burst=True)
    assert Job.objects.get().state == JobState.WAITING
    assert requeue_lost() == 1
    redis_server.worker().work(burst=True)
    assert Job.objects.get().state == JobState.DONE
