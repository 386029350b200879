"""Biases measured in shards: the same numbers as in one process, and nothing is fitted again that is stored."""

import pytest

from evaluation.utd import bias_measures
from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.instructions import TASKS
from evaluation.utd.requests import BiasRequest
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import execute, run_now
from tests.evaluation.utd.texts import described
from tests.jobs.stops import Stop, stopping_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(tmp_path):
    return described("told", tmp_path)[1]


def measured(told, task):
    run = measure_bias(None, told, BiasRequest(task=task, encoder="fake-words:"))
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run


@pytest.mark.full
@pytest.mark.parametrize("task", TASKS)
def test_shards_give_the_numbers_of_one_process(told, settings, task):
    whole = measured(told, task)
    assert not whole.job.shards.exists()
    settings.SHARD_ITEMS = 1
    cut = measured(told, task)
    # Four concepts and nine models.
    assert list(cut.job.shards.values_list("state", "done", "total")) == [(JobState.DONE, 1, 1)] * 13
    assert cut.result == whole.result
    assert cut.predictions == whole.predictions
    assert cut.encoder_key == whole.encoder_key
    assert (Job.objects.get(pk=cut.job_id).done, whole.result["n"]) == (13, 12)


@pytest.mark.full
def test_a_resumed_shard_does_not_repeat_stored_fits(told, settings, monkeypatch):
    whole = measured(told, TASKS[0])
    settings.SHARD_ITEMS = 1
    run = measure_bias(None, told, BiasRequest(task=TASKS[0], encoder="fake-words:"))
    execute(str(run.job_id))
    shard = run.job.shards.order_by("number").first()
    fits = []
    monkeypatch.setattr(bias_measures, "fitted", stopping_at(3, bias_measures.fitted, fits))
    with pytest.raises(Stop):
        execute(str(shard.pk))
    shard.refresh_from_db()
    assert shard.state == JobState.WAITING
    execute(str(shard.pk))
    # Of four fits two were stored when it stopped at the third.
    assert len(fits) == 5
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    assert run.result == whole.result
