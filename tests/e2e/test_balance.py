"""Thresholds and selections in a real browser: a slider moved by keys, what would pass shown at once, then applied."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from generation.actions.selections import start_selection
from generation.models import Candidate, FilterScore
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow, wait_until
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_video,
)

pytestmark = pytest.mark.django_db(transaction=True)
C = CandidateState


@pytest.fixture
def world():
    """24 foils of one run, entailed with .00 to .92; passed up to .5. And 22 valid items that words solve."""
    project = make_project(slug="shapes", name="Shapes that move", blind_bar=0.6)
    owner = make_member(project, Role.RESEARCHER, name="owner")
    subtest = make_subtest(project, name="Spatial relations")
    filters = [{"slug": "nli", "params": {"max_entailment": 0.5}, "version": "1"}]
    run = make_run(subtest, method="preposition", filters=filters)
    for n in range(24):
        source, target = ("on", "under") if n % 3 else ("under", "on")
        caption = make_caption(make_video(project), f"a red cup stands {source} a long wooden table, take {n}.")
        foil = caption.text.replace(f" {source} ", f" {target} ")
        state = C.QUEUED if n * 0.04 < 0.5 else C.FILTERED_OUT
        candidate = make_candidate(make_group(run, caption), foil, state=state)
        FilterScore.objects.create(
            run=run, candidate=candidate, filter="nli", filter_version="1", score=n * 0.04, passed=n * 0.04 < 0.5
        )
        make_item(subtest, caption, (foil.replace("table", "chair"),), state=ItemState.VALID)
    selection = start_selection(owner, subtest, "balance", run=run)
    run_now(selection.job)
    return {"project": project, "owner": owner, "run": run, "selection": selection}


def address(world, name: str, *args) -> str:
    return reverse(name, args=[world["project"].slug, *args])


@pytest.mark.full
def test_the_pages_are_accessible_quiet_and_fit(world, sign_in: SignIn):
    page = sign_in(world["owner"])
    for path in (
        address(world, "generation:thresholds", world["run"].pk) + "?nli=0.7",
        address(world, "generation:selections"),
        address(world, "generation:selection", world["selection"].pk),
        address(world, "reports:report", "blind"),
        address(world, "releases:freeze"),
    ):
        assert page.goto(path).status == 200
        expect(page.locator("h1")).to_have_count(1)
        wait_until(page, "[...document.images].every(image => image.complete && image.naturalWidth > 0)")
        assert_accessible_wide_and_narrow(page)


def test_a_slider_moved_by_keys_shows_at_once_what_would_pass_and_is_applied(world, sign_in: SignIn):
    page = sign_in(world["owner"])
    page.goto(address(world, "generation:thresholds", world["run"].pk))
    passes = page.locator("#thresholds-answer .stat dd").first
    expect(passes).to_contain_text("13")
    slider = page.get_by_label("Entailment: threshold slider")
    slider.focus()
    page.keyboard.press("End")
    # The number says what the slider says, and the answer comes without the page being loaded anew.
    expect(page.locator("#id_nli")).to_have_value("0.92")
    expect(passes).to_contain_text("23")
    page.get_by_role("button", name="Apply: restore 10, hold back 0").click()
    expect(page.get_by_text("10 restored, 0 held back.")).to_be_visible()
    assert Candidate.objects.filter(state=C.QUEUED).count() == 23
