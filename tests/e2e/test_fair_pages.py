"""The pages of a fair set and of a certificate, and the counts of a replacement while a person types."""

from functools import partial

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from evaluation.analyses import certificate
from evaluation.reports.reports import project_report
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.core.solver.solve import certify
from tests import factories
from tests.e2e.conftest import WORK, SignIn, assert_accessible_wide_and_narrow, film
from tests.media.painted import painted_clip

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
VERBS = ("folds", "tears", "lifts", "drops")


@pytest.fixture
def subtest():
    project = factories.make_project(slug="shirts")
    subtest = factories.make_subtest(project, name="actions")
    for number in range(24):
        clip = factories.make_video(project, media_state="ready")
        right, wrong = VERBS[number % 4], VERBS[(number + 1) % 4]
        caption = factories.make_caption(clip, f"she {'holds' if number % 2 else right} box {number}.")
        item = factories.make_item(subtest, caption, (f"she {wrong} box {number}.",), state="valid")
        item.foils.update(verdict="valid")
    return subtest


def test_proposals_are_accepted_and_undone(subtest, sign_in: SignIn) -> None:
    project = subtest.project
    owner = factories.make_member(project, Role.RESEARCHER, name="owner")
    project_report(project, "fair", subtest=subtest.name)
    page = sign_in(owner)
    page.goto(reverse("reports:report", args=[project.slug, "fair"]) + f"?subtest={subtest.name}")
    page.get_by_role("button", name="Accept").first.click()
    expect(page.get_by_role("heading", name="Accepted proposals")).to_be_visible()
    assert_accessible_wide_and_narrow(page)
    page.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_role("heading", name="Accepted proposals")).to_have_count(0)


def test_a_certificate_is_asked_for_on_the_blind_audit_and_shown_there(subtest, sign_in, monkeypatch) -> None:
    monkeypatch.setattr(certificate, "certify", partial(certify, repeats=2, permutations=2))
    owner = factories.make_member(subtest.project, Role.RESEARCHER, name="owner")
    page = sign_in(owner)
    page.goto(reverse("reports:report", args=["shirts", "blind"]))
    page.get_by_role("link", name="Get a certificate").click()
    page.get_by_role("button", name="Compute").click()
    expect(page.get_by_text("Waiting for a worker.")).to_be_visible()
    assert run_now(Job.objects.get()).state == "done"
    # The live part sees the end of the job and asks for the whole page.
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    assert_accessible_wide_and_narrow(page)
    page.goto(reverse("reports:report", args=["shirts", "blind"]))
    expect(page.get_by_role("link", name="Certificate with its charts and items")).to_be_visible()
    assert_accessible_wide_and_narrow(page)


def test_the_edit_page_counts_a_replacement_while_a_person_types(subtest, sign_in: SignIn) -> None:
    project = subtest.project
    annotator = factories.make_member(project, Role.ANNOTATOR, name="ann")
    clip = film(project, painted_clip(10), 10.0)
    run = factories.make_run(subtest)
    factories.make_candidate(factories.make_group(run, factories.make_caption(clip, "she folds box 99.")), "she x.")
    page: Page = sign_in(annotator)
    page.goto("/projects/shirts/work/edit/")
    page.keyboard.press("n")
    page.wait_for_selector(WORK)
    page.get_by_role("textbox", name="Foil").fill("she tears box 99.")
    counts = page.locator("[data-replacement]")
    expect(counts).to_have_text(
        "Foils that replace “folds” by “tears”: 6; the other way: 0. "
        "To balance them, 4 foils the other way are missing."
    )
    assert_accessible_wide_and_narrow(page)
    page.get_by_role("textbox", name="Foil").fill("she folds box 99.")
    expect(counts).to_have_text("")
