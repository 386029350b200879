"""How a job ends: by how much of its result is missing, and by a signal to the command that runs it."""

import signal

import pytest
from django.core.management import call_command

from foilworks.core.jobs import runner
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.outcomes import outcome_of, reasons_of
from foilworks.core.jobs.queue import QUICK, cancel, enqueue, lane_name, requeue_lost
from foilworks.core.jobs.runner import JobInterrupted, run_now
from foilworks.core.jobs.spread import Partly
from foilworks.site.supervisor.services import _queues_of, _worst_end


@pytest.mark.parametrize(("n_units", "n_missing"), [(0, 0), (20, 0), (20, 2), (9, 0)])
def test_a_few_missing_units_do_not_matter(n_units, n_missing):
    assert outcome_of(n_units, n_missing, ["why"]) is None


def test_many_missing_units_make_a_job_partly_done_with_the_first_reasons():
    reasons = ["unreadable: a: no such file", "unreadable: a: no such file", "", "b", "c", "d"]
    partly = outcome_of(20, 3, reasons)
    assert partly == Partly("without a result: 3/20 (unreadable: a: no such file; b; c)")


@pytest.mark.parametrize("n_units", [1, 992])
def test_without_any_result_a_job_fails_with_the_reasons(n_units):
    with pytest.raises(JobError, match=rf"any of {n_units}: no such file"):
        outcome_of(n_units, n_units, ["no such file"])


def test_reasons_name_the_list_the_unit_and_why():
    problems = {"unreadable": [{"item": "v1", "why": "no such file"}] * 2, "missing_media": ["v2"], "ok": []}
    assert list(reasons_of({**problems, "truncated": {"n": 1}})) == [
        "unreadable: v1: no such file",
        "missing media: v2",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_job_of_a_command_for_good_until_somebody_continues_it(number):
    before = signal.getsignal(number)
    job = enqueue("samples.be_signalled", int(number))
    with pytest.raises(JobInterrupted, match=rf"1 of 4 steps.*foilworks requeue {job.pk}"):
        run_now(job)
    assert signal.getsignal(number) is before
    assert (job.state, requeue_lost()) == (JobState.CANCELLED, 0)
    call_command("requeue", str(job.pk), "--sync")
    job.refresh_from_db()
    assert job.state == JobState.DONE
    with pytest.raises(SystemExit) as leaving:
        call_command("requeue", str(job.pk))
    assert leaving.value.code == 1


@pytest.mark.django_db
def test_a_second_signal_does_not_leave_the_job_to_a_worker(monkeypatch):
    job = enqueue("samples.be_signalled", int(signal.SIGINT))

    def impatient(row: Job) -> bool:
        signal.raise_signal(signal.SIGINT)
        return cancel(row)

    monkeypatch.setattr(runner, "cancel", impatient)
    with pytest.raises(JobInterrupted, match="foilworks requeue"):
        run_now(job)
    assert (job.state, requeue_lost()) == (JobState.CANCELLED, 0)


def test_of_several_workers_of_short_jobs_the_last_takes_only_quick_ones():
    quick = lane_name("default", QUICK)
    assert [_queues_of(number, 3, ["default"]) for number in (1, 2, 3)] == [["default"], ["default"], [quick]]
    assert _queues_of(1, 1, ["default"]) == ["default"]
    assert [_queues_of(number, 2, ["gpu"]) for number in (1, 2)] == [["gpu"], ["gpu"]]


@pytest.mark.django_db
def test_a_worker_until_empty_reports_the_worst_end(django_user_model):
    began = enqueue("samples.count", 1).created_at
    assert _worst_end(["default"], began) == ""
    for state in (JobState.DONE, JobState.PARTLY, JobState.FAILED):
        Job.objects.create(dotted="samples.count", target_id=1, state=state, finished_at=began, message="why")
        assert _worst_end(["default"], began) == ("" if state == JobState.DONE else state)
    assert _worst_end(["gpu"], began) == ""
