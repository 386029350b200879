"""The page that proposes pairs, and its job."""

import pytest

from annotation.pairs import jobs
from annotation.pairs.actions.store_pairs import JOBS
from foilworks.core.corpus.models import Item
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import AuditEvent, Role
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def subtest():
    return make_subtest(make_project(slug="p"), name="pairs")


@pytest.fixture
def captions(subtest):
    for place in ("chair", "table", "box"):
        for verb in ("sitting", "standing"):
            make_caption(make_video(subtest.project), f"a man is {verb} on a {place}")


@pytest.fixture
def researcher(client, subtest):
    client.force_login(make_member(subtest.project, Role.RESEARCHER))
    return client


def send(client, subtest, kind="natural"):
    return client.post("/projects/p/pairs/", {"subtest": subtest.pk, "kind": kind})


def run():
    job = Job.objects.latest("created_at")
    run_now(job)
    job.refresh_from_db()
    return job


def test_the_form_queues_a_job_and_the_page_shows_its_pairs(researcher, subtest, captions):
    assert send(researcher, subtest).status_code == 302
    job = run()
    assert (job.dotted, job.message) == (JOBS["natural"], "pairs stored: 3/3")
    page = researcher.get("/projects/p/pairs/").content.decode()
    assert page.count("a man is sitting on a") == 3
    assert AuditEvent.objects.filter(action="annotation.ask_for_pairs").count() == 1


def test_each_job_adds_the_next_pairs(subtest, captions, researcher, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_NEW", 2)
    messages = []
    for _ in range(3):
        send(researcher, subtest)
        messages.append(run().message)
    assert messages == ["pairs stored: 2/2", "pairs stored: 1/1", "pairs stored: 0/0"]
    assert Item.objects.count() == 6


def test_a_second_request_waits_for_the_first_job(researcher, subtest, captions):
    send(researcher, subtest)
    answer = send(researcher, subtest)
    assert (answer.status_code, Job.objects.count()) == (422, 1)
    assert "Pairs are being proposed already" in answer.content.decode()


def test_the_live_part_reloads_the_page_when_the_job_is_over(researcher, subtest, captions):
    send(researcher, subtest)
    assert 'hx-trigger="every 2s"' in researcher.get("/projects/p/pairs/?part=1").content.decode()
    Job.objects.update(state=JobState.DONE)
    assert researcher.get("/projects/p/pairs/?part=1").headers["HX-Refresh"] == "true"


def test_without_captions_or_a_subtest_the_form_says_what_to_do(researcher, subtest):
    assert "Import videos with captions first" in researcher.get("/projects/p/pairs/").content.decode()
    make_caption(make_video(subtest.project))
    type(subtest).objects.update(votes_wanted=0, votes_needed=0)
    assert "Create a main subtest with one foil per item" in researcher.get("/projects/p/pairs/").content.decode()
