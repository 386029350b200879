"""Rows that were queued by 0.1 name their jobs in `evaluation.jobs`; they are run under these names."""

from inspect import signature

import pytest
from django.utils.module_loading import import_string

from evaluation.jobs import ROOMS
from jobs.models import Job, JobState
from jobs.queue import enqueue
from jobs.runner import execute
from tests.factories import make_project


@pytest.mark.parametrize("name", ROOMS)
def test_a_job_is_found_under_its_old_name(name):
    job = import_string(f"evaluation.jobs.{name}")
    assert job.__module__ == f"evaluation.{ROOMS[name]}.jobs"
    assert list(signature(job).parameters)[1] == "job"


def test_no_other_name_is_found():
    with pytest.raises(ImportError, match="nonsense"):
        import_string("evaluation.jobs.nonsense")


@pytest.mark.django_db(transaction=True)
def test_a_waiting_row_of_before_is_run():
    project = make_project()
    row = enqueue("evaluation.jobs.count_dashboard", project.pk, project_id=project.pk)
    execute(str(row.pk))
    assert Job.objects.get(pk=row.pk).state == JobState.DONE
