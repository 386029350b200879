"""The page of a run while its shards are at work: wide, narrow and dark, with nothing in the way."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from evaluation.models import Run
from jobs.models import Job, JobState
from projects.models import Role
from tests.e2e.conftest import SignIn, assert_accessible
from tests.evaluation.ranked import make_release
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)
MEASURED = {"decode": 71.0, "wait": 6.5, "compute": 210.0, "write": 3.2, "pairs": 2048, "halved": {"clips": 8}}


def test_shards_and_times_are_read_on_any_screen_and_the_run_is_stopped(sign_in: SignIn, tmp_path) -> None:
    project = make_project(slug="ranked", name="Ranked")
    owner = make_member(project, Role.RESEARCHER, name="olga")
    now = timezone.now()
    job = Job.objects.create(dotted="evaluation.jobs.run_scoring", target_id=1, queue="gpu", state=JobState.SPREAD,
                             title="Scores of X-CLIP", done=5300, total=12288, started_at=now)  # fmt: skip
    states = [JobState.DONE, JobState.DONE, JobState.RUNNING, JobState.FAILED, JobState.WAITING, JobState.WAITING]
    for number, state in enumerate(states, 1):
        Job.objects.create(
            dotted="evaluation.jobs.score_shard", target_id=1, parent=job, number=number, state=state, total=2048,
            done={JobState.DONE: 2048, JobState.RUNNING: 1204}.get(state, 0), attempts=int(state != JobState.WAITING),
            worker="scorer-2.example.org:4711" if state != JobState.WAITING else "",
            started_at=now - timedelta(minutes=6), lease_until=now + timedelta(hours=1),
            measured=MEASURED if state in {JobState.DONE, JobState.RUNNING} else {},
            error="The disk is full; free some space, then go on." if state == JobState.FAILED else "",
        )  # fmt: skip
    run = Run.objects.create(release=make_release(project), spec="fake:1", label="X-CLIP", job=job)
    for narrow in (False, True):
        page = sign_in(owner, narrow=narrow, color_scheme="dark" if narrow else "light")
        page.goto(f"/projects/ranked/scoring/{run.pk}/")
        expect(page.get_by_text("6 shards, 3 of them open")).to_be_visible()
        expect(page.get_by_text("Time left")).to_be_visible()
        assert_accessible(page)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The run is stopped. What is scored stays.")).to_be_visible()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    assert set(job.shards.values_list("state", flat=True)) == {"done", "failed", "cancelled"}
