"""Which processes still work on a job that is no longer theirs."""

import json
import os

import pytest

from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
from foilworks.core.jobs.stray_workers import stray_jobs

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_on_a_lost_job_is_a_stray(redis_server):
    job = enqueue("samples.change_hands", 1)
    redis_server.worker().work(burst=True, logging_level="ERROR")
    job.refresh_from_db()
    assert job.state == "done"
    assert json.loads(job.message) == [False, True, True, True, True]


def test_a_worker_without_a_job_is_not_a_stray(redis_server):
    enqueue("samples.count", 1)
    redis_server.worker().work(burst=True, logging_level="ERROR")
    Job.objects.all().delete()
    assert stray_jobs([os.getpid()]) == {}
