"""The work pages on a phone of 360 x 640: everything that is judged and every answer is in sight without scrolling."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, ViewportSize, expect

from annotation.actions.studies import import_objects, open_baseline, open_object_check
from annotation.models import Lease, PracticeCaption, QualityPolicy, Vote
from foilworks.core.corpus.models import Caption
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import execute
from foilworks.core.projects.models import User
from tests.annotation.world import World, make_world
from tests.e2e.conftest import CAPTION, WORK, SignIn, assert_accessible, film, moving_dot
from tests.factories import make_caption, make_item

pytestmark = pytest.mark.django_db(transaction=True)

PHONE: ViewportSize = {"width": 360, "height": 640}
FOILS = tuple(f"a red dot moves {where}." for where in ("to the left", "up", "down", "in a circle", "nowhere"))
# Where a box lies, and whether anything else covers its middle.
BOX = """(element) => {
  const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
  const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return { left, top, right, bottom, width, height, covered: !element.contains(found) && !found?.contains(element) };
}"""


@pytest.fixture
def world() -> World:
    """A demo project, so that the word on simulated data needs its room, too; two clips with a caption each."""
    world = make_world({"slug": "dots", "name": "Dots", "is_simulated": True}, foils_per_item=2)
    for number in range(2):
        make_caption(film(world.project, moving_dot(), 12.0, key=f"clip{number}"), CAPTION)
    return world


def captions(world: World) -> list[Caption]:
    return list(Caption.objects.filter(video__project=world.project).order_by("pk"))


def items(world: World, state: str, *foils: str) -> None:
    for caption in captions(world):
        item = make_item(world.subtest, caption=caption, foils=foils, state=state)
        item.foils.update(verdict="valid" if state == "valid" else "")


def to_edit(world: World) -> tuple[User, str]:
    world.group(*FOILS[:2], caption=captions(world)[0])
    return world.ann, "work/edit/"


def to_review(world: World) -> tuple[User, str]:
    world.group(FOILS[0], caption=captions(world)[0])
    world.edit("ann", FOILS[0], FOILS[1])
    return world.rita, "work/review/"


def to_validate(world: World) -> tuple[User, str]:
    items(world, "in_validation", FOILS[0])
    return world.vera, "work/validation/"


def to_the_baseline(world: World) -> tuple[User, str]:
    items(world, "valid", *FOILS)
    open_baseline(world.owner, world.project)
    return world.ann, "work/baseline/"


def to_check_objects(world: World) -> tuple[User, str]:
    line = '{"video": "clip0", "time": 1.0, "objects": ["red dot", "light field", "left-handed violin"]}'
    import_objects(world.owner, world.project, [line], name="objects.jsonl")
    open_object_check(world.owner, world.project, "import")
    execute(str(Job.objects.get().pk))
    return world.ann, "work/objects/"


def to_practise(world: World) -> tuple[User, str]:
    caption = captions(world)[0]
    PracticeCaption.objects.create(project=world.project, caption=caption, examples=[FOILS[0]])
    QualityPolicy.objects.create(project=world.project, practice_open=True)
    return world.ann, "practice/"


# Of each page: what stands for it, the clip, what is read, what is pressed.
PLAYER, SUBMIT = ".player-screen", ".work-actions .btn-primary"
PAGES: dict[str, tuple[Callable[[World], tuple[User, str]], str, list[str]]] = {
    "edit": (to_edit, PLAYER, [".truth .sentence", ".foil textarea", SUBMIT]),
    "review": (to_review, PLAYER, [".sentence.diff, .sentence", ".btn-good", "[value='send_back']", "[value='drop']"]),
    "validation": (to_validate, PLAYER, [".pair .sentence", ".choice"]),
    "baseline": (to_the_baseline, PLAYER, [".choice"]),
    "objects": (to_check_objects, ".still", [".objects legend", ".objects .chip", SUBMIT]),
    "practice": (to_practise, PLAYER, [".truth .sentence", ".foil textarea", SUBMIT]),
}


def on_a_phone(sign_in: SignIn, person: User) -> Page:
    page = sign_in(person, has_touch=True)
    page.set_viewport_size(PHONE)
    return page


def begin(page: Page, path: str) -> None:
    page.goto(f"/projects/dots/{path}")
    page.locator("main form button").first.click()
    page.wait_for_selector(".work")
    if page.locator("[data-player]").count():
        page.wait_for_selector(WORK)


def assert_in_sight(found: Locator) -> None:
    """All of them inside the window, and nothing over their middle."""
    assert found.count()
    for each in found.all():
        box = each.evaluate(BOX)
        assert 0 <= box["left"] < box["right"] <= PHONE["width"], box
        assert 0 <= box["top"] < box["bottom"] <= PHONE["height"], box
        assert not box["covered"], box


@pytest.mark.full
@pytest.mark.parametrize("stage", PAGES)
def test_clip_sentences_and_answers_are_in_sight_without_scrolling(world: World, sign_in: SignIn, stage: str) -> None:
    prepare, clip, parts = PAGES[stage]
    person, path = prepare(world)
    page = on_a_phone(sign_in, person)
    begin(page, path)
    for selector in (clip, ".work-menu", ".work-count", *parts):
        assert_in_sight(page.locator(selector))
    assert page.locator(clip).evaluate(BOX)["height"] >= 0.25 * PHONE["height"] - 1
    # One bar of 40 px, without the app's own and without the banner.
    assert page.locator(".work-head h1").evaluate(BOX)["top"] <= 48
    assert page.evaluate("scrollY") == 0
    assert_accessible(page)


@pytest.mark.full
@pytest.mark.parametrize("stage", ["review", "practice"])
def test_nothing_is_shown_that_would_jump_as_the_rest_of_the_page_comes(
    world: World, sign_in: SignIn, stage: str
) -> None:
    """The clip takes what the text leaves: a text that comes piece by piece moved up at each piece."""
    prepare, _clip, _parts = PAGES[stage]
    person, path = prepare(world)
    page = on_a_phone(sign_in, person)
    begin(page, path)
    expect(page.locator(".work")).to_be_visible()

    def half(route: Route) -> None:
        answer = route.fetch()
        text, inside, _rest = answer.text().partition('<div class="work-text">')
        assert inside
        route.fulfill(response=answer, body=text + inside)

    page.route(page.url, half)
    page.reload()
    expect(page.locator(".work")).to_be_attached()
    expect(page.locator(".work")).to_be_hidden()


def test_one_tap_sends_and_the_last_answer_can_be_undone(world: World, sign_in: SignIn) -> None:
    person, path = to_validate(world)
    page = on_a_phone(sign_in, person)
    begin(page, path)
    expect(page.locator(".work-count")).to_contain_text("0 of 2")
    page.locator(".choice").nth(2).tap()
    expect(page.locator(".work-count")).to_contain_text("1 of 2")
    page.wait_for_selector(WORK)
    assert Vote.objects.get().choice == "neither"
    for selector in (PLAYER, ".pair .sentence", ".choice", ".undo button"):
        assert_in_sight(page.locator(selector))
    assert_accessible(page)
    page.get_by_role("button", name="Undo").tap()
    page.wait_for_url(lambda url: "done" not in url)
    page.wait_for_selector(WORK)
    assert Vote.objects.get().state == "undone"


@pytest.mark.full
def test_a_reason_that_is_missing_is_asked_for_in_sight(world: World, sign_in: SignIn) -> None:
    """Also from the end of the page, where the clip and the decisions stay in sight."""
    person, path = to_review(world)
    page = on_a_phone(sign_in, person)
    begin(page, path)
    for top in (0, 2_000):
        page.evaluate("(top) => scrollTo(0, top)", top)
        page.get_by_role("button", name="Send back").tap()
        expect(page.get_by_text("Choose at least one reason.")).to_be_visible()
        assert_in_sight(page.get_by_text("Choose at least one reason."))
        assert_in_sight(page.locator("input[name='reasons']").first)
    page.locator("input[name='reasons']").first.tap()
    expect(page.get_by_text("Choose at least one reason.")).to_be_hidden()
    for selector in (".btn-good", "[value='send_back']", "[value='drop']"):
        assert_in_sight(page.locator(selector))


@pytest.mark.full
def test_the_menu_the_players_controls_and_the_reasons_of_a_skip_open_on_a_tap(world: World, sign_in: SignIn) -> None:
    person, path = to_validate(world)
    page = on_a_phone(sign_in, person)
    begin(page, path)
    page.get_by_role("button", name="Menu").tap()
    expect(page.get_by_role("navigation", name="Project")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Menu").tap()
    expect(page.get_by_role("navigation", name="Project")).to_be_hidden()
    page.get_by_role("button", name="Player controls").tap()
    assert_in_sight(page.get_by_role("group", name="Playback").get_by_role("button", name="Next frame"))
    before = page.url
    page.locator(".work-skip").tap()
    page.get_by_role("button", name="A sentence is unclear").tap()
    page.wait_for_url(lambda url: url != before)
    assert Lease.objects.get(ending="skipped").skip_reason == "unclear"
