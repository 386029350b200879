"""A certificate of a project's items: a job with steps, its page, and the page of the blind audit."""

import json
import signal
import sys
from functools import partial

import pytest
from django.urls import reverse

from evaluation.analyses import certificate
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import item_facts
from evaluation.reports.actions.request_report import request_report
from evaluation.reports.reports import stored_report
from evaluation.reports.steps import KIND as STEPS
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import cancel, retry
from foilworks.core.jobs.runner import execute, run_now
from foilworks.core.projects.models import Role
from foilworks.core.solver.solve import certify
from tests.evaluation.certified_items import add_items
from tests.factories import make_item, make_member, make_subtest
from tests.foilworks.test_descriptions_in_shards import end_at_once
from tests.foilworks.test_descriptions_in_shards import home as home
from tests.pages import read_page

REPEATS, REDRAWN = 2, 2
ALL_STEPS = REPEATS + REDRAWN


@pytest.fixture
def few_steps(monkeypatch):
    """The same procedure, with fewer steps than the hundred of a certificate."""
    monkeypatch.setattr(certificate, "certify", partial(certify, repeats=REPEATS, permutations=REDRAWN))


@pytest.fixture
def view(project, researcher, client):
    client.force_login(researcher)
    return lambda kind: client.get(reverse("reports:report", args=[project.slug, kind]))


@pytest.fixture
def researcher(project):
    return make_member(project, Role.RESEARCHER, name="researcher")


def asked(project, person) -> Job:
    return request_report(person, project, "certificate", subtest="", params={}).job


def data_of(project):
    return stored_report(project, "certificate", None, {}).data


@pytest.mark.usefixtures("few_steps")
def test_the_job_certifies_and_both_pages_show_its_verdict(project, researcher, client, view):
    add_items(make_subtest(project), 24, "valid")
    assert "Get a certificate" in {link.name for link in read_page(view("blind")).all("a")}
    assert "Compute" in read_page(view("certificate")).buttons
    client.post(reverse("reports:report_ask", args=[project.slug, "certificate"]))
    job = run_now(Job.objects.get(state="waiting"))
    assert job.state == "done", job.error
    data = data_of(project)
    solved = data["without_video"]
    assert (solved["is_certified"], solved["repeats"], solved["permutations"]) == (True, REPEATS, REDRAWN)
    assert (data["of_valid"], data["items"], len(data["item_scores"])) == (True, 24, 24)
    assert data == json.loads(json.dumps(certificate.compute(facts(project))))
    for kind in ("certificate", "blind"):
        text = read_page(view(kind)).text
        assert "of the pairs are answered without the video (95 % interval" in text
        assert solved["verdict"].replace("_", " ").capitalize() in text
    table = client.get(reverse("reports:report_file", args=[project.slug, "certificate", "csv"])).content.decode()
    assert table.splitlines()[0] == "id,foil,s,s_minus_chance,sd,tier,reason"
    assert len(table.splitlines()) == 25
    # The steps are only those of a certificate that is not there yet.
    assert not CachedResult.objects.filter(kind=STEPS).exists()
    make_item(make_subtest(project, name="later"))
    assert "of items before the latest changes" in read_page(view("blind")).text


def facts(project):
    return item_facts(project, None)


@pytest.mark.full
def test_a_cancelled_certificate_continues_from_its_last_step(project, researcher, monkeypatch):
    add_items(make_subtest(project), 24, "in_validation")
    job, done = asked(project, researcher), []

    def certify_and_cancel(*args, progress, state, **settings):
        def step(n, total, stored):
            done.append(n)
            if len(done) == 2:
                cancel(job)
            progress(n, total, stored)

        return certify(*args, progress=step, state=state, repeats=REPEATS, permutations=REDRAWN)

    monkeypatch.setattr(certificate, "certify", certify_and_cancel)
    execute(str(job.pk))
    assert Job.objects.get(pk=job.pk).state == "cancelled"
    assert data_of(project) is None
    assert retry(job)
    assert run_now(Job.objects.get(pk=job.pk)).state == "done"
    assert done == list(range(1, ALL_STEPS + 1))
    monkeypatch.setattr(certificate, "certify", partial(certify, repeats=REPEATS, permutations=REDRAWN))
    data = data_of(project)
    # No item is valid, so all are judged.
    assert not data["of_valid"]
    assert data == json.loads(json.dumps(certificate.compute(facts(project))))


@pytest.mark.full
@pytest.mark.usefixtures("few_steps")
def test_steps_of_other_items_are_not_continued(project, researcher, monkeypatch):
    subtest = make_subtest(project)
    add_items(subtest, 24, "valid")
    job = asked(project, researcher)

    def stop(*args, progress, **settings):
        def step(n, total, stored):
            cancel(job)
            progress(n, total, stored)

        return certify(*args, progress=step, repeats=REPEATS, permutations=REDRAWN, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(certificate, "certify", stop)
        execute(str(job.pk))
    assert Job.objects.get(pk=job.pk).state == "cancelled"
    assert CachedResult.objects.get(kind=STEPS).data["credits"]["set"]
    subtest.items.first().delete()
    assert retry(job)
    assert run_now(Job.objects.get(pk=job.pk)).state == "done"
    data = data_of(project)
    assert data["items"] == 23
    assert data == json.loads(json.dumps(certificate.compute(facts(project))))


def test_a_project_without_items_has_nothing_to_certify(project, researcher, view):
    assert "No items yet" in read_page(view("certificate")).text
    job = asked(project, researcher)
    with pytest.raises(EvaluationError, match="there are no items"):
        execute(str(job.pk))
    job.refresh_from_db()
    assert (job.state, "there are no items" in job.error) == ("failed", True)


def test_a_visitor_reads_how_to_get_a_certificate(client, db):
    text = read_page(client.get(reverse("audit"))).text
    assert "Only a certificate can say “nothing found”" in text
    assert "foilworks audit FILE --certify certificate.json" in text


@pytest.mark.machines
@pytest.mark.slow(seconds=120)
def test_a_worker_is_killed_and_the_next_one_ends_with_the_same_certificate(home):
    run = partial(home.run, sys.executable, "-m", "tests.evaluation.certified_items")
    job = run("make").split()[-1]
    stored = lambda: home.rows(f"SELECT data FROM evaluation_report WHERE kind = '{STEPS}'")  # noqa: E731
    first = home.work(1)
    home.until(lambda: stored() and len(json.loads(stored()[0][0])["uniform"]) >= 3)
    end_at_once(first)
    before = json.loads(stored()[0][0])
    second = home.work(1)
    home.until(lambda: home.state(job) in {"done", "failed"})
    second.send_signal(signal.SIGINT)
    second.wait(60)
    assert home.state(job) == "done"
    ((attempts, losses),) = home.rows("SELECT attempts, losses FROM jobs_job")
    assert (attempts, losses) == (2, 1)
    ((kept,),) = home.rows("SELECT data FROM evaluation_report WHERE kind = 'certificate'")
    whole = json.loads(kept)
    assert whole == json.loads(run("compute"))
    assert whole["without_video"]["permutations"] == 100
    assert 3 <= len(before["uniform"]) < 100
    assert stored() == []
