"""The page that composes multiple-choice items, and its job."""

import pytest

from annotation.choices.actions.compose_choices import JOB
from foilworks.core.corpus.models import Item
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import AuditEvent, Role
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db
ADDRESS = "/projects/p/choices/"


@pytest.fixture
def target():
    project = make_project(slug="p")
    random = make_subtest(project, name="random", foils_per_item=4)
    edits = make_subtest(project, name="edits")
    for number in range(3):
        caption = make_caption(make_video(project), f"a man sings song {number}.")
        make_item(random, caption, tuple(f"caption {place}." for place in range(4)))
        if number:
            make_item(edits, caption, (f"a man eats song {number}.",))
    return make_subtest(project, name="verb-h", foils_per_item=4)


@pytest.fixture
def researcher(client, target):
    client.force_login(make_member(target.project, Role.RESEARCHER))
    return client


def send(client, target, act, **fields):
    values = {"subtest": target.pk, "random": "random", "hard": "edits", "seed": 0, "act": act}
    return client.post(ADDRESS, {**values, **fields})


def test_the_preview_shows_counts_examples_and_reasons(researcher, target):
    answer = send(researcher, target, "preview")
    page = " ".join(answer.content.decode().split())
    assert answer.status_code == 200
    assert "2 new items" in page
    assert "<strong>1</strong>: no hard foil for this caption" in page
    assert "a man eats song 1. <span" in page
    assert not Item.objects.filter(subtest=target).exists()


def test_the_form_queues_a_job_and_the_page_shows_its_items(researcher, target):
    assert send(researcher, target, "create").status_code == 302
    job = Job.objects.get(dotted=JOB)
    assert 'hx-trigger="every 2s"' in researcher.get(f"{ADDRESS}?part=1").content.decode()
    run_now(job)
    job.refresh_from_db()
    assert (job.state, job.message) == (JobState.DONE, "items composed: 2")
    assert Item.objects.filter(subtest=target).count() == 2
    assert "verb-h</a></th>" in researcher.get(ADDRESS).content.decode()
    assert researcher.get(f"{ADDRESS}?part=1").headers["HX-Refresh"] == "true"
    assert AuditEvent.objects.filter(action="annotation.ask_for_choices").count() == 1
    again = send(researcher, target, "create")
    assert (again.status_code, "nothing new to compose" in again.content.decode()) == (422, True)


def test_a_second_request_waits_for_the_first_job(researcher, target):
    send(researcher, target, "create")
    again = send(researcher, target, "create")
    assert (again.status_code, "being composed already" in again.content.decode()) == (422, True)


def test_a_source_that_does_not_fit_is_refused_with_the_reason(researcher, target):
    answer = send(researcher, target, "preview", random="verb-h")
    assert (answer.status_code, "cannot be the source of its own items" in answer.content.decode()) == (422, True)


def test_without_subtests_or_random_captions_the_form_says_what_to_do(client):
    project = make_project(slug="p")
    client.force_login(make_member(project, Role.RESEARCHER))
    assert "Create one with 4 foils per item" in client.get(ADDRESS).content.decode()
    make_subtest(project)
    assert "import Random items" in client.get(ADDRESS).content.decode()
