"""A researcher looks at items, narrows them, opens one and settles it, by keyboard and on a phone."""

import pytest
from playwright.sync_api import expect

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.runner import run_now
from tests.annotation.world import World, make_world, shown_as
from tests.e2e.conftest import IN_BOTH_WIDTHS, SignIn, assert_accessible, film, moving_dot
from tests.factories import make_caption, make_item

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def disputed(request) -> Item:
    """An item with a real video whose votes have no majority, beside a released and scored one."""
    world: World = make_world({"slug": "dots", "name": "Dots"})
    caption = make_caption(film(world.project, moving_dot(), 12), "a red dot moves from the left to the right.")
    valid = make_item(
        world.subtest,
        caption,
        ("a red dot moves from the right to the left.",),
        key="dot-valid",
        state=ItemState.VALID,
        unanimous=True,
    )
    run_now(
        start_run(
            world.owner,
            freeze_release(world.owner, world.project, name="v1"),
            RunRequest("fake:1", label="A fake model"),
        ).job
    )
    world.group("a red dot stands still.", caption=make_caption(valid.video, "a red dot moves to the right."))
    world.edit("ann", "a red dot moves to the left.")
    world.review("rita")
    item = Item.objects.exclude(pk=valid.pk).get()
    for name, choice in (("vera", "caption"), ("vic", "foil"), ("val", "both")):
        work = claim(getattr(world, name), world.project, "validation")
        submit_vote(getattr(world, name), work.token, name, shown_as(choice, work))
    item.refresh_from_db()
    assert item.state == ItemState.DISPUTED
    return item


def owner_of(item: Item):
    return item.subtest.project.memberships.get(role="researcher").person


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_the_pages_of_items_are_accessible_and_fit(disputed: Item, sign_in: SignIn, narrow: bool) -> None:
    page = sign_in(owner_of(disputed), narrow=narrow)
    page.goto("/projects/dots/items/")
    expect(page.locator("[data-row]")).to_have_count(2)
    assert_accessible(page)
    page.goto("/projects/dots/items/?q=nothing+like+this")
    assert_accessible(page)
    for item in Item.objects.all():
        page.goto(f"/projects/dots/items/{item.pk}/")
        page.wait_for_selector("[data-player][data-ready]")
        assert_accessible(page)


@pytest.mark.full
def test_a_disputed_item_is_found_and_adjudicated(disputed: Item, sign_in: SignIn) -> None:
    page = sign_in(owner_of(disputed))
    page.goto("/projects/dots/items/")
    page.get_by_text("disputed", exact=True).first.click()
    page.wait_for_url("**state=disputed**")
    expect(page.locator("[data-row]")).to_have_count(1)
    page.get_by_role("link", name=disputed.key).click()
    page.get_by_role("link", name="Open page").click()
    page.get_by_label("Reason").fill("the dot does move to the right")
    page.get_by_role("button", name="Decide as valid").click()
    expect(page.get_by_text("Done. The item history")).to_be_visible()
    expect(page.locator(".history li").last).to_contain_text("the dot does move to the right")
    disputed.refresh_from_db()
    assert disputed.state == ItemState.VALID


def test_what_a_model_got_wrong_is_one_link_away(disputed: Item, sign_in: SignIn) -> None:
    page = sign_in(owner_of(disputed))
    page.goto("/projects/dots/items/")
    page.get_by_text("More filters").click()
    page.get_by_label("Model (optional)", exact=True).select_option(label="A fake model · v1")
    page.wait_for_url("**run=**")
    expect(page.get_by_role("link", name="dot-valid")).to_be_visible()
    expect(page.locator("[data-row]")).to_have_count(1)
