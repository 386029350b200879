"""Multiple-choice items of five sentences, judged by keyboard and on a phone of 360 x 640."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Vote
from foilworks.core.corpus.models import Item
from tests.annotation.world import World, make_world
from tests.e2e.conftest import (
    CAPTION,
    WORK,
    SignIn,
    assert_accessible,
    assert_accessible_wide_and_narrow,
    film,
    moving_dot,
)
from tests.e2e.test_phone import BOX, PHONE
from tests.factories import make_caption, make_item

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "while two people in red jackets walk along the beach with a large dog and talk about the weather of last week"
FOILS = ("a red dot moves to the left.", f"a cat runs {LONG}.", f"a boat sinks {LONG}.", f"two people dance {LONG}.")
# As a page moves after it was drawn; what a person's key or tap moves does not count.
SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 200);
})"""


@pytest.fixture
def world() -> World:
    world = make_world({"slug": "dots", "name": "Dots"}, foils_per_item=4)
    for number in range(2):
        caption = make_caption(film(world.project, moving_dot(), 12.0, key=f"clip{number}"), CAPTION)
        make_item(world.subtest, caption, FOILS, key=f"item-{number}", facts={"hard_foil": 0})
    return world


def start(page: Page) -> None:
    page.goto("/projects/dots/work/validation/")
    page.get_by_role("button", name="Start").first.click()
    page.wait_for_selector(WORK)
    expect(page.get_by_role("heading", level=1)).to_have_text("Which sentence is true of the video?")


def shown(page: Page) -> list[str]:
    return [text.strip() for text in page.locator(".choice-text.sentence").all_text_contents()]


def test_five_sentences_are_judged_by_keyboard(world: World, sign_in: SignIn) -> None:
    page = sign_in(world.vera)
    start(page)
    assert page.evaluate(SHIFT) <= 0.01
    assert_accessible(page)
    assert sorted(shown(page)) == sorted([CAPTION, *FOILS])
    page.keyboard.press(str(shown(page).index(CAPTION) + 1))
    expect(page.locator("input[name='answer']:checked")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-done-today]")).to_have_text("1")
    page.wait_for_selector(WORK)
    page.keyboard.press("7")
    page.keyboard.press("7")
    expect(page.get_by_role("heading", name="You have completed all tasks here")).to_be_visible()
    first, second = Vote.objects.order_by("pk")
    assert (first.choice, first.watch["covered"] > 0) == ("caption", True)
    assert (second.choice, second.chosen_place) == ("both", None)


@pytest.mark.full
def test_on_a_phone_the_clip_stays_in_sight_while_long_sentences_scroll(world: World, sign_in: SignIn) -> None:
    page = sign_in(world.vera, has_touch=True)
    page.set_viewport_size(PHONE)
    start(page)
    assert page.evaluate(SHIFT) <= 0.01
    assert_accessible(page)
    for each in page.locator(".choice").all():
        each.scroll_into_view_if_needed()
        clip, answer = page.locator(".player-screen").evaluate(BOX), each.evaluate(BOX)
        assert clip["top"] >= -1
        assert clip["height"] >= 0.25 * PHONE["height"] - 1
        assert clip["bottom"] <= answer["top"] + 1
        assert answer["bottom"] <= PHONE["height"] + 1
        assert not answer["covered"]
        assert answer["height"] >= 44
    page.locator(".choice", has_text="a boat sinks").tap()
    expect(page.locator(".work-count")).to_contain_text("1 of 2")
    page.wait_for_selector(WORK)
    vote = Vote.objects.get()
    assert vote.choice == "foil"
    assert Item.objects.get(pk=vote.item_id).foils.get(pk=vote.order_shown[vote.chosen_place - 1]).position == 2


@pytest.mark.full
def test_the_five_sentences_are_readable_in_the_dark(world: World, sign_in: SignIn) -> None:
    page = sign_in(world.vera, color_scheme="dark")
    start(page)
    page.keyboard.press("2")
    expect(page.locator("input[name='answer']:checked")).to_have_count(1)
    assert_accessible_wide_and_narrow(page)


@pytest.mark.full
def test_reviewers_and_researchers_see_which_foil_is_hard(world: World, sign_in: SignIn) -> None:
    item = Item.objects.get(key="item-0")
    page = sign_in(world.owner)
    page.goto("/projects/dots/items/")
    expect(page.get_by_text("3 captions of other videos").first).to_be_visible()
    page.goto(f"/projects/dots/items/{item.pk}/")
    expect(page.get_by_text("hard foil")).to_have_count(1)
    expect(page.get_by_text("caption of another video")).to_have_count(3)
    assert_accessible_wide_and_narrow(page)
    item.state = "disputed"
    item.save()
    item.foils.update(verdict="disputed")
    reviewer = sign_in(world.rita)
    reviewer.goto(f"/projects/dots/disputed/{item.pk}/")
    expect(reviewer.get_by_text("hard foil")).to_have_count(1)
    assert_accessible_wide_and_narrow(reviewer)
