"""A run's cost, its stop, and its going on: the pages and actions around a run that asks an endpoint."""

import pytest
from django.urls import reverse

from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from generation.actions.runs import resume_run, start_run, stop_run
from generation.errors import GenerationError
from generation.models import CandidateGroup
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_member, make_project, make_run, make_subtest, make_video
from tests.hub.chat_server import Said, chat_server, foils

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings, monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)
    with chat_server(lambda body, n: Said("broken", 500)) as one:
        lab = {"url": one.url, "models": ("tiny",), "price": (1000.0, 2000.0), "currency": "EUR"}
        settings.CHAT_ENDPOINTS = {"lab": lab}
        yield one


@pytest.fixture
def run(project, owner, server):
    for n in range(3):
        make_caption(make_video(project), f"a man lifts {n} boxes")
    params = {"endpoint": "lab", "foils": 1, "tries": 1, "requests": 4}
    found = start_run(
        owner, project, FoilRequest(subtest=make_subtest(project), method="chat", params=params, filters={})
    )
    with pytest.raises(JobError, match="No result for any of 3: 500"):
        run_now(found.job)
    found.refresh_from_db()
    return found


def page(client, owner, run, name="run", **query):
    client.force_login(owner)
    answer = client.get(reverse(f"generation:{name}", args=[run.project.slug, run.pk]), query)
    return " ".join(answer.content.decode().split())


def test_the_page_lists_missing_answers_and_costs_and_offers_a_retry(client, owner, run, server):
    html = page(client, owner, run)
    assert "The model did not answer for 3 captions" in html
    assert "of 4 </small>" in html
    assert "500</a>" in html
    listed = page(client, owner, run, "run_skipped", why="500")
    assert listed.count("can be retried") == 3
    assert "No caption of this run has this reason." in page(client, owner, run, "run_skipped", why="timed out")

    server.answer = lambda body, n: foils("a man drops a box")
    url = reverse("generation:resume_run", args=[run.project.slug, run.pk])
    assert client.post(url, {"requests": "-1", "tokens": ""}).status_code == 302
    assert not AuditEvent.objects.filter(action="generation.resume_run").exists()
    client.post(url, {"requests": "10", "tokens": ""})
    run.refresh_from_db()
    assert run.params["requests"] == 10
    event = AuditEvent.objects.get(action="generation.resume_run")
    assert (event.details["unanswered"], event.details["before"]["requests"]) == (3, 4)
    assert event.details["budget"]["requests"] == 10
    run_now(run.job)
    html = page(client, owner, run)
    assert "did not answer" not in html
    # 3 failures and 3 answers; 20 tokens asked and 5 answered, at 1000 and 2000 a million: .02 + .01, three times.
    assert "6 <small" in html
    assert "0.0900 <small" in html


def test_a_group_that_gets_foils_later_waits_for_tasks_again(run, owner, server):
    CandidateGroup.objects.update(tasked=True)
    server.answer = lambda body, n: foils("a man drops a box") if "0 boxes" in str(body) else Said("broken", 500)
    resume_run(owner, run, budget={"requests": 0})
    run_now(run.job)
    waiting = CandidateGroup.objects.filter(run=run, tasked=False)
    assert [group.caption.text for group in waiting] == ["a man lifts 0 boxes"]


def test_a_stopped_run_can_be_resumed(project, owner, server):
    make_caption(make_video(project), "a man lifts a box")
    wishes = {"endpoint": "lab", "foils": 1}
    run = start_run(owner, project, FoilRequest(subtest=make_subtest(project), method="chat", params=wishes))
    stop_run(owner, run)
    run.job.refresh_from_db()
    assert run.job.state == JobState.CANCELLED
    with pytest.raises(GenerationError, match="cannot be stopped"):
        stop_run(owner, run)
    resume_run(owner, run)
    with pytest.raises(GenerationError, match="still in progress"):
        resume_run(owner, run)
    assert run.job.state == JobState.WAITING


def test_a_finished_run_cannot_resume_and_a_local_run_has_no_budget(project, owner):
    make_caption(make_video(project), "a red circle moves")
    run = start_run(owner, project, FoilRequest(subtest=make_subtest(project), method="fake"))
    run_now(run.job)
    run.refresh_from_db()
    with pytest.raises(GenerationError, match="nothing left to do"):
        resume_run(owner, run)
    stopped = start_run(owner, project, FoilRequest(subtest=make_subtest(project), method="fake"))
    stop_run(owner, stopped)
    stopped.refresh_from_db()
    with pytest.raises(GenerationError, match="it has no budget"):
        resume_run(owner, stopped, budget={"requests": 3})


def test_a_budget_out_of_bounds_is_refused(run, owner):
    with pytest.raises(GenerationError, match="parameter 'requests' is -5"):
        resume_run(owner, run, budget={"requests": -5})


@pytest.mark.parametrize("action", [resume_run, stop_run])
def test_only_researchers_of_the_project_stop_and_resume_runs(project, action):
    run = make_run(make_subtest(project))
    for person in (make_member(project, Role.ANNOTATOR), make_member(make_project(), Role.RESEARCHER)):
        with pytest.raises(AccessDenied):
            action(person, run)
