"""Five foils an editor, quick reviews, disputed items, captions in doubt, guidelines: by keyboard, wide and narrow."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from annotation.actions.settings.work_settings import publish_guideline
from annotation.models import Edit, Guideline, Review, Stage
from foilworks.core.corpus.models import Caption, Item
from generation.models import Candidate
from tests import factories
from tests.annotation.world import World, make_world
from tests.e2e.conftest import IN_BOTH_WIDTHS, WORK, SignIn, assert_accessible, film, moving_dot

pytestmark = pytest.mark.django_db(transaction=True)

CAPTION = "a red dot moves to the right."
VERBS = ("jumps", "rolls", "slides", "spins", "shrinks")


def filmed(world: World, text: str = CAPTION) -> Caption:
    return factories.make_caption(film(world.project, moving_dot(), 12.0), text)


def foil(verb: str) -> str:
    return f"a red dot {verb} to the right."


def open_piece(page: Page, world: World, stage: str) -> None:
    page.goto(f"/projects/{world.project.slug}/work/{stage}/")
    page.keyboard.press("n")
    page.wait_for_selector(WORK)


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_five_counterfactuals_are_written_by_keyboard(sign_in: SignIn, narrow: bool) -> None:
    world = make_world(foils_per_item=5, changes="action")
    group = factories.make_group(world.run, filmed(world))
    for rank, verb in enumerate(VERBS[:2]):
        factories.make_candidate(group, foil(verb), rank=rank, span_start=10, span_end=15, edits=[[10, 15, verb]])
    page = sign_in(world.ann, narrow=narrow)
    open_piece(page, world, "edit")
    expect(page.locator(".truth mark")).to_have_text("moves")
    boxes = page.get_by_role("textbox", name="Foil")
    expect(boxes).to_have_count(5)
    expect(boxes.nth(1)).to_have_value(foil("rolls"))
    assert_accessible(page)
    page.keyboard.press("e")
    for verb in VERBS[:2]:
        expect(page.locator("textarea:focus")).to_have_value(foil(verb))
        page.keyboard.press("Enter")
    # The third is empty: what stays and what must change is said while one types.
    page.keyboard.type("a blue dot moves to the right.")
    third = page.locator(".foil").nth(2)
    expect(third.get_by_text("keep the people and things; removed words: 1")).to_be_visible()
    expect(third.get_by_text("the action is the same as in the caption")).to_be_visible()
    expect(third.locator("[data-changed]")).to_have_text("1")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(foil("rolls"))
    expect(third.get_by_text("another foil of this caption has the same text")).to_be_visible()
    # A suggestion fills the editor; it stands before the next one in the order of the keyboard.
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(third.get_by_role("textbox")).to_have_value(foil("jumps"))
    for number, verb in enumerate(VERBS[2:], start=2):
        page.locator("textarea").nth(number).focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(foil(verb))
        expect(page.locator(".foil").nth(number).locator(".checks li:visible")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/?done=edit-*")
    texts = Candidate.objects.filter(state="in_review").values_list("text", flat=True)
    assert sorted(texts) == sorted(foil(verb) for verb in VERBS)


def leads_back_to(page: Page) -> set[str]:
    """Return the paths that sign-in links and forms lead back to."""
    named = page.evaluate("""[
        ...[...document.querySelectorAll("a[href*='next=']")].map((a) => new URL(a.href).searchParams.get("next")),
        ...[...document.querySelectorAll("input[name='next']")].map((field) => field.value),
    ]""")
    assert len(named) >= 2
    return {urlsplit(address).path for address in named}


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_one_foil_after_the_other_without_a_page_to_load(sign_in: SignIn, narrow: bool) -> None:
    world = make_world()
    for verb in VERBS[:3]:
        world.group(foil(verb), caption=filmed(world))
    page = sign_in(world.ann, narrow=narrow)
    open_piece(page, world, "edit")
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url) if request.resource_type == "document" else None)
    for done in range(1, 3):
        before = page.locator("input[name='idempotency_key']").first.input_value()
        page.keyboard.press("e")
        page.keyboard.press("Control+Enter")
        expect(page.locator("input[name='idempotency_key']").first).not_to_have_value(before)
        page.wait_for_selector(WORK)
        expect(page.locator("[data-said]")).to_have_text(f"Submitted. Done today: {done} of 3 available tasks")
        expect(page.locator("main")).to_be_focused()
        assert leads_back_to(page) == {urlsplit(page.url).path}
        assert Edit.objects.count() == done
    assert loaded == []
    assert_accessible(page)
    # The form of the new piece is alive: its suggestion is in the box, its difference counts.
    expect(page.locator("[data-changed]")).to_have_text("1")
    sent = {text for edit in Edit.objects.all() for text in edit.texts}
    assert {page.locator("textarea").input_value()} == {foil(verb) for verb in VERBS[:3]} - sent


@pytest.mark.full
def test_a_link_within_the_page_keeps_the_page_and_back_loads_the_card_before(sign_in: SignIn) -> None:
    world = make_world()
    for verb in VERBS[:2]:
        world.group(foil(verb), caption=filmed(world))
    page = sign_in(world.ann)
    open_piece(page, world, "edit")
    page.evaluate("window.mark = 1")
    page.locator(".skip-link").press("Enter")
    page.wait_for_url("**/#main")
    before = page.locator("input[name='idempotency_key']").first.input_value()
    page.keyboard.press("e")
    page.keyboard.press("Control+Enter")
    expect(page.locator("input[name='idempotency_key']").first).not_to_have_value(before)
    assert page.evaluate("window.mark") == 1
    with page.expect_request(lambda request: request.resource_type == "document"):
        page.evaluate("history.back()")
    page.wait_for_load_state()


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_reviews_at_speed_one_key_a_card(sign_in: SignIn, narrow: bool) -> None:
    world = make_world(foils_per_item=5, changes="action")
    world.group(caption=filmed(world))
    world.edit("ann", *map(foil, VERBS))
    page = sign_in(world.rita, narrow=narrow)
    open_piece(page, world, "review")
    assert_accessible(page)

    def decide(*keys: str) -> None:
        number = Review.objects.count()
        before = page.locator("input[name='idempotency_key']").first.input_value()
        for key in keys:
            page.keyboard.press(key)
        expect(page.locator("input[name='idempotency_key']").first).not_to_have_value(before)
        page.wait_for_selector(WORK)
        assert Review.objects.count() == number + 1

    # Each key is pressed twice: the second press meets the card that the first one brought, and decides nothing.
    page.evaluate("""() => {
      const main = document.querySelector("main");
      const press = () => "new" in main.dataset && main.querySelector("[data-hotkey='a']").click();
      new MutationObserver(press).observe(main, { attributeFilter: ["data-new"] });
    }""")
    decide("a")
    # What is sent is said where a page that loads would have been read out; the card came without one.
    expect(page.locator("[data-said]")).to_have_text(
        "Submitted. Done today: 1 of 5 available tasks Too quick: press again."
    )
    expect(page.locator("main")).to_be_focused()
    assert leads_back_to(page) == {urlsplit(page.url).path}
    # A key that is held decides once.
    page.keyboard.down("4")
    page.keyboard.down("4")
    page.keyboard.up("4")
    expect(page.locator("input[name='reasons']").nth(3)).to_be_checked()
    page.keyboard.press("4")
    # Enter on a reason sends nothing; Escape leaves the comment, and the keys count again.
    decide("2", "Enter", "c", "N", "o", "Control+Enter", "Escape", "b")
    page.keyboard.press("u")
    page.wait_for_url("**/work/review/*/")
    page.wait_for_selector(WORK)
    # What was chosen before the undo may be there still.
    if page.locator("input[name='reasons'][value='not_minimal']").is_checked():
        page.keyboard.press("2")
    page.locator("#comment").fill("")
    decide("Escape", "1", "x")
    page.keyboard.press("f")
    expect(page.get_by_role("textbox", name="Corrected foil")).to_be_focused()
    assert page.evaluate("document.activeElement.selectionStart === document.activeElement.value.length")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a red dot vanishes to the right.")
    page.keyboard.press("Control+Enter")
    # Who fixed a foil made one: the video's other pieces are for other reviewers.
    expect(page.get_by_text("on videos that you wrote or edited a foil for")).to_be_visible()
    decisions = Review.objects.order_by("pk").values_list("decision", "reasons", "comment", "undone_at")
    assert [(*decided, undone is None) for *decided, undone in decisions] == [
        ("accept", [], "", True),
        ("send_back", ["not_minimal"], "No", False),
        ("drop", ["still_true"], "", True),
        ("fix", [], "", True),
    ]


def judged(world: World, *choices: str) -> Item:
    item = factories.make_item(world.subtest, filmed(world), (foil("jumps"),))
    for name, choice in zip(("vera", "vic", "val"), choices, strict=True):
        world.vote(name, choice)
    return item


def offering_undo(path: str) -> re.Pattern[str]:
    """Match the page after a decision, whether or not it can be undone."""
    return re.compile(re.escape(path) + r"(\?undo=.*)?$")


@IN_BOTH_WIDTHS
def test_disputed_items_are_adjudicated_by_keyboard(sign_in: SignIn, narrow: bool) -> None:
    world = make_world()
    first, second = judged(world, "caption", "foil", "both"), judged(world, "caption", "neither", "cannot_tell")
    publish_guideline(world.owner, world.project, Stage.VALIDATION, "Watch it *to the end*.")
    page = sign_in(world.rob, narrow=narrow)
    page.goto(f"/projects/{world.project.slug}/work/")
    page.keyboard.press("s")
    page.wait_for_url("**/disputed/")
    assert_accessible(page)
    page.keyboard.press("n")
    page.wait_for_selector(WORK)
    assert_accessible(page)
    page.keyboard.press("g")
    expect(page.locator("#guideline em")).to_have_text("to the end")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.get_by_text("Choose at least one reason.")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.keyboard.press("a")
    page.wait_for_url(offering_undo(f"/disputed/{second.pk}/"))
    page.wait_for_selector(WORK)
    page.keyboard.press("2")
    page.keyboard.press("c")
    page.keyboard.type("both fit")
    page.keyboard.press("Tab")
    page.keyboard.press("x")
    page.wait_for_url(offering_undo("/disputed/"))
    expect(page.get_by_text("No disputed items")).to_be_visible()
    states = dict(Item.objects.values_list("pk", "state"))
    assert states == {first.pk: "valid", second.pk: "invalid"}


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_captions_in_doubt_are_repaired_by_keyboard(sign_in: SignIn, narrow: bool) -> None:
    world = make_world()
    items = [judged(world, "neither", "neither", "foil") for _ in range(3)]
    page = sign_in(world.owner, narrow=narrow)
    page.goto(f"/projects/{world.project.slug}/work/")
    page.keyboard.press("d")
    page.wait_for_url("**/captions/doubted/")
    assert_accessible(page)
    page.keyboard.press("n")
    page.wait_for_selector(WORK)
    assert_accessible(page)
    page.keyboard.press("1")  # the foil stays
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a red dot moves to the wall.")
    expect(page.locator("[data-changed]")).to_have_text("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(offering_undo(f"/captions/doubted/{items[1].caption_id}/"))
    page.wait_for_selector(WORK)
    page.keyboard.press("c")
    page.keyboard.type("one sees it")
    page.keyboard.press("Tab")
    page.keyboard.press("a")
    page.wait_for_url(offering_undo(f"/captions/doubted/{items[2].caption_id}/"))
    page.wait_for_selector(WORK)
    page.keyboard.press("c")
    page.keyboard.type("another clip")
    page.keyboard.press("Tab")
    page.keyboard.press("x")
    page.wait_for_url(offering_undo("/captions/doubted/"))
    expect(page.get_by_text("No captions in doubt")).to_be_visible()
    settled = Caption.objects.filter(revises=None).order_by("pk").values_list("doubt_settled", flat=True)
    assert list(settled) == ["corrected", "confirmed", "dropped"]
    new = Caption.objects.get(revises=items[0].caption)
    assert (new.text, new.items.get().state) == ("a red dot moves to the wall.", "in_validation")


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_guidelines_are_written_previewed_and_read_by_keyboard(sign_in: SignIn, narrow: bool) -> None:
    world = make_world()
    world.group(caption=filmed(world))
    page = sign_in(world.owner, narrow=narrow)
    page.goto(f"/projects/{world.project.slug}/guidelines/")
    assert_accessible(page)
    page.goto(f"/projects/{world.project.slug}/guidelines/edit/")
    page.keyboard.press("e")
    page.keyboard.type("Change **one** word.\n\n+ folds: unfolds\n- <script>document.title = 'gone'</script>\n")
    expect(page.locator("#preview strong").first).to_have_text("one")
    expect(page.locator("#preview .example-bad")).to_contain_text("<script>")
    assert_accessible(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Version 1 published.")).to_be_visible()
    ann = sign_in(world.ann, narrow=narrow)
    open_piece(ann, world, "edit")
    ann.keyboard.press("g")
    expect(ann.locator("#guideline .example-good")).to_have_text("Good: folds: unfolds")
    assert_accessible(ann)
    assert ann.title() != "gone"
    page.reload()
    expect(page.get_by_text("Work has started.")).to_be_visible()
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("\nOr two.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("input[name='begun']")).to_be_focused()
    assert Guideline.objects.count() == 1
    page.keyboard.press("Space")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Version 2 published.")).to_be_visible()
    assert_accessible(page)


@IN_BOTH_WIDTHS
def test_the_shares_of_reviews_are_set(sign_in: SignIn, narrow: bool) -> None:
    world = make_world()
    page = sign_in(world.owner, narrow=narrow)
    page.goto(f"/projects/{world.project.slug}/reviewing/")
    page.get_by_label("Edits to review (%)", exact=True).fill("30")
    page.get_by_label(f"edits of {world.ann.username}").fill("100")
    assert_accessible(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Review shares saved. They apply to new edits.")).to_be_visible()
    world.project.refresh_from_db()
    assert world.project.review_policy.rate == 0.3
