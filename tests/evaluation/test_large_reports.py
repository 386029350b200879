"""Reports of a large project: a job computes them, and the page reads no items to show them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Vote
from evaluation.blind.models import BlindScorer
from evaluation.cached_results import first_views
from evaluation.errors import EvaluationError
from evaluation.reports.actions.request_report import request_report
from evaluation.reports.beside import KIND
from evaluation.reports.pages import PAGES
from evaluation.reports.reports import project_report, stored_report
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role
from foilworks.site.dashboard.pilot import pilot_of
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db
COMPUTED = ("validation", "agreement", "people")


@pytest.fixture
def owner(client):
    person = make_member(make_project(slug="large"), Role.RESEARCHER, name="owner")
    client.force_login(person)
    return person


@pytest.fixture
def project(owner, monkeypatch):
    project = owner.memberships.get().project
    add_items(make_subtest(project), 3, [make_member(project, Role.VALIDATOR, name=f"val-{n}") for n in range(3)])
    monkeypatch.setattr(first_views, "LARGE", 3)
    return project


def add_items(subtest, n: int, people) -> None:
    for k in range(n):
        caption = make_caption(make_video(subtest.project), f"two dogs run to the left, take {k}.")
        item = make_item(subtest, caption, (caption.text.replace("left", "right"),), state=ItemState.VALID)
        foil = item.foils.get()
        Vote.objects.bulk_create(
            Vote(item=item, foil=foil, person=person, choice="caption", idempotency_key=f"{item.pk}")
            for person in people
        )


def page_of(project, kind: str) -> str:
    return reverse("reports:report", args=[project.slug, kind])


def computed(client, project, kind: str) -> None:
    client.post(reverse("reports:report_ask", args=[project.slug, kind]))
    assert run_now(Job.objects.get(state="waiting")).state == "done"


@pytest.mark.parametrize("kind", PAGES)
def test_a_view_of_a_report_computes_nothing_and_offers_to_compute_it(kind, project, client):
    answer = client.get(page_of(project, kind))
    assert (answer.status_code, answer.context["data"]) == (200, None)
    assert "Compute\n" in answer.content.decode()
    assert not Job.objects.exists()
    assert client.get(reverse("reports:report_file", args=[project.slug, kind, "json"])).status_code == 400


@pytest.mark.parametrize("kind", COMPUTED)
def test_the_page_shows_what_its_job_computed_as_a_small_project_does(kind, project, client, monkeypatch):
    computed(client, project, kind)
    large = client.get(page_of(project, kind))
    assert reverse("reports:report_ask", args=[project.slug, kind]) not in large.content.decode()
    monkeypatch.undo()
    small = client.get(page_of(project, kind))
    assert large.context["data"] == small.context["data"]
    assert large.content.decode().count("<td") == small.content.decode().count("<td")


@pytest.mark.parametrize("kind", ["validation", "agreement"])
def test_a_view_of_a_computed_report_takes_the_same_statements_and_rows_for_more_items(kind, project, client):
    computed(client, project, kind)
    assert_same_statements(client, project, kind)


def assert_same_statements(client, project, kind: str) -> None:
    counts = []
    for _round in range(2):
        with CaptureQueriesContext(connection) as asked:
            assert client.get(page_of(project, kind)).context["data"]
        assert not [query for query in asked if "annotation_vote" in query["sql"] or "corpus_foil" in query["sql"]]
        counts.append(len(asked))
        add_items(project.subtests.get(), 3, [])
    assert counts[0] == counts[1]


def test_any_later_write_makes_a_report_stale_but_only_people_ask_for_it_again(project, client, owner):
    computed(client, project, "validation")
    computed(client, project, "people")
    assert not stored_report(project, "validation", None, {}).is_stale
    audit.record(audit.event(project, owner, "vote", project))
    assert stored_report(project, "validation", None, {}).is_stale
    page = client.get(page_of(project, "validation"))
    assert "Compute again" in page.content.decode()
    assert page.context["data"]["overall"]["n_items"] == 3
    assert Job.objects.count() == 2


def test_a_page_says_that_its_report_is_being_computed_again(project, client, owner):
    computed(client, project, "people")
    request_report(owner, project, "people", subtest="", params={})
    assert "has changed since these numbers were computed" in client.get(page_of(project, "people")).content.decode()


def test_the_job_of_the_agreement_page_computes_what_the_page_shows_beside_it(project, client):
    computed(client, project, "agreement")
    context = client.get(page_of(project, "agreement")).context
    assert context["codings"][0]["alpha"] == context["data"]["alpha"]
    assert context["position"] == project_report(project, "position")


def test_a_report_of_the_command_line_lacks_what_its_page_shows_beside_it(project, client):
    project_report(project, "agreement")
    answer = client.get(page_of(project, "agreement"))
    assert (answer.status_code, answer.context["data"]) == (200, None)
    computed(client, project, "agreement")
    assert client.get(page_of(project, "agreement")).context["codings"]


def test_the_job_of_the_blind_audit_stores_the_preferences_of_language_models(project, client):
    scorer = BlindScorer.objects.create(project=project, spec="lm:gone", model_key="gone")
    computed(client, project, "blind")
    assert project.reports.get(kind=KIND).data[str(scorer.pk)]["overall"]["n_missing"] == 3
    (shown,) = client.get(page_of(project, "blind")).context["scorers"]
    assert shown["found"]["overall"]["n_missing"] == 3
    assert_same_statements(client, project, "blind")


def test_a_small_project_asks_for_no_job(owner, client):
    project = owner.memberships.get().project
    with pytest.raises(EvaluationError, match="does not need a job"):
        request_report(owner, project, "validation", subtest="", params={})
    assert client.post(reverse("reports:report_ask", args=[project.slug, "validation"])).status_code == 404


def test_the_plan_of_a_large_project_reads_the_stored_agreement(project, client):
    with CaptureQueriesContext(connection) as asked:
        assert "vote_agreement" not in pilot_of(project).values
    assert not [query for query in asked if "caption_first" in query["sql"]]
