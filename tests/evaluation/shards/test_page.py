"""The page of a run in shards: what each is at, where the time went, stop and go on. Its queries do not grow."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import execute, run_now
from foilworks.core.projects.models import AuditEvent, Role
from tests import factories
from tests.addresses import named
from tests.evaluation.shards.test_equality import in_parts, release  # noqa: F401 (a fixture)
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(release, monkeypatch, client):  # noqa: F811
    """Spread over four shards, of which one is done; a researcher is signed in."""
    in_parts(monkeypatch, shards=4)
    client.force_login(factories.make_member(release.project, Role.RESEARCHER))
    run = start_run(None, release, RunRequest("fake:1", device="cpu"))
    execute(str(run.job.pk))
    execute(str(run.job.shards.get(number=1).pk))
    return run


def address(run, name: str) -> str:
    return reverse(named(name), args=[run.release.project.slug, run.pk])


def test_the_live_part_shows_shards_times_and_progress(run, client):
    response = client.get(address(run, "run_progress"))
    text = response.content.decode()
    assert "HX-Refresh" not in response.headers
    for words in (
        "4 shards, 3 not finished",
        "9 of 36",
        "Time left",
        "Decoding",
        "Model waiting for frames",
        "Model computing",
        "Writing scores",
        "scores per second",
        "Stop",
    ):
        assert words in text, words
    assert text.count('data-state="waiting"') == 3
    assert 'data-state="spread"' not in text, "people read running"
    assert "Smaller batches" not in text
    shard = run.job.shards.get(number=1)
    shard.measured = {**shard.measured, "halved": {"clips": 4}}
    shard.save()
    assert "clips 4 per batch" in client.get(address(run, "run_progress")).content.decode()


def test_its_queries_do_not_grow_with_the_shards(run, client):
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            client.get(address(run, "run_progress"))
        return len(seen)

    before = queries()
    first = run.job.shards.get(number=2)
    copies = [Job(dotted=first.dotted, target_id=1, parent=run.job, number=number) for number in range(5, 100)]
    Job.objects.bulk_create(copies)
    assert queries() == before
    assert "99 shards, 98 not finished" in (text := client.get(address(run, "run_progress")).content.decode())
    assert "The table shows 40 shards" in text


def test_a_stopped_run_resumes_with_its_unfinished_shards(run, client):
    assert client.post(address(run, "stop_run")).status_code == 302
    run.job.refresh_from_db()
    assert run.job.state == JobState.CANCELLED
    assert sorted(run.job.shards.values_list("state", flat=True)) == ["cancelled"] * 3 + ["done"]
    assert "Retry run" in client.get(address(run, "run")).content.decode()
    assert client.post(address(run, "resume_run")).status_code == 302
    assert run_now(Job.objects.get(pk=run.job.pk)).state == JobState.DONE
    done = run.job.shards.order_by("number")
    assert [shard.attempts for shard in done] == [1, 1, 1, 1]
    assert set(AuditEvent.objects.values_list("action", flat=True)) >= {"evaluation.stop_run", "evaluation.resume_run"}
    for name in ("stop_run", "resume_run"):
        assert client.post(address(run, name)).status_code == 400


def test_a_failed_shard_shows_its_reason_on_the_run(run, client):
    Job.objects.filter(parent=run.job).exclude(number=1).update(state=JobState.FAILED, error="the disk is full.")
    Job.objects.filter(pk=run.job.pk).update(state=JobState.WAITING)
    with pytest.raises(EvaluationError, match="3 of 4 shards failed: the disk is full"):
        execute(str(run.job.pk))
    read_page(client.get(address(run, "run"))).check("3 of 4 shards failed", "Retry run")
