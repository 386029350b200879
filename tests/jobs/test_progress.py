"""Progress is cheap to note: the row is written at most twice a second."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from foilworks.core.jobs.lease import claim
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import note, progress


@pytest.fixture
def job(db) -> Job:
    return claim(str(Job.objects.create(dotted="samples.count", target_id=1).pk))


def test_a_thousand_steps_are_two_writes(job):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        for done in range(1001):
            progress(job, done, 1000, f"item {done}")
    # The first and the last; a slow machine may see one in between.
    assert 2 <= len(queries) <= 6
    row = Job.objects.get()
    assert (row.done, row.total, row.message) == (1000, 1000, "item 1000")


def test_omitted_values_do_not_change(job):
    progress(job, 1, 10, "decoding")
    progress(job, 10)
    row = Job.objects.get()
    assert (row.done, row.total, row.message) == (10, 10, "decoding")


def test_a_long_message_is_cut(job):
    progress(job, 1, 1, "x" * 1000)
    assert Job.objects.get().message == "x" * 300


def test_a_note_is_shown_at_once_whatever_was_written_just_before(job):
    progress(job, 1, 10, "asking the model")
    note(job, "trying again (2 of 4)")
    job.refresh_from_db()
    assert (job.message, job.done, job.total) == ("trying again (2 of 4)", 1, 10)
    note(job, "x" * 400)
    assert len(job.message) == 300


def test_progress_renews_the_lease(job):
    now = timezone.now()
    Job.objects.update(lease_until=now - timedelta(minutes=1))
    progress(job, 1, 1)
    assert Job.objects.get().lease_until > now
    assert Job.objects.get().heartbeat_at is not None


@pytest.mark.parametrize(("done", "total", "share"), [(0, 0, 0.0), (1, 4, 0.25), (4, 4, 1.0), (9, 4, 1.0)])
def test_the_share_of_a_job_stays_between_none_and_all(done, total, share):
    assert Job(done=done, total=total).share == share
