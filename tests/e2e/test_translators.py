"""What a disobedient translator changes is restored and asked again, on every page where people decide on texts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.actions.studies import import_objects, open_baseline, open_object_check
from annotation.models import Attempt, GoldPair, ObjectAnswer, QualityPolicy, Review, Vote
from foilworks.core.corpus.models import Item, Subtest
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import execute
from tests.annotation.world import make_world
from tests.e2e.conftest import CAPTION, WORK, SignIn, film, moving_dot, wait_for
from tests.e2e.test_owner_desks import filmed, judged
from tests.e2e.test_people_and_money import FOIL, TRANSLATE
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
GERMAN = {"locale": "de-DE"}
OTHERS = tuple(f"a red dot moves {where}." for where in ("up to the left", "down to the left"))


@pytest.fixture
def dots() -> Subtest:
    subtest = make_subtest(make_project(slug="dots", name="Dots"), name="direction")
    make_caption(film(subtest.project, moving_dot(), 12.0, key="clip"), CAPTION)
    return subtest


def start(page: Page, address: str, ready: str = WORK) -> None:
    page.goto(address)
    page.keyboard.press("n")
    page.wait_for_selector(ready)


def is_restored(page: Page, *, is_answered: bool = True) -> None:
    """Answer, let the translator work, and see what was shown before, without an answer."""
    before = page.locator("[data-stimulus]").all_inner_texts()
    assert any("left" in text or "right" in text for text in before)
    assert page.locator("main input:checked").count() == int(is_answered)
    page.evaluate(TRANSLATE, True)
    expect(page.get_by_text("Your browser changed a sentence.")).to_be_visible()
    assert page.locator("[data-stimulus]").all_inner_texts() == before
    assert page.locator("main input:checked").count() == 0


def sends_nothing(page: Page, stored: Callable[[], bool]) -> None:
    before = page.url
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert (page.url, stored()) == (before, False)


def test_options_of_a_choice(dots: Subtest, sign_in: SignIn) -> None:
    item = make_item(dots, caption=dots.project.videos.get().captions.get(), foils=(FOIL, *OTHERS), state="valid")
    item.foils.update(verdict="valid")
    open_baseline(make_member(dots.project, "researcher"), dots.project)
    page = sign_in(make_member(dots.project, "annotator"), **GERMAN)
    start(page, "/projects/dots/work/baseline/")
    page.keyboard.press("2")
    is_restored(page)
    sends_nothing(page, Vote.objects.exists)
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    wait_for(page, Vote.objects.exists)
    watch = Vote.objects.get().watch
    assert (watch["changed"], watch["translated"]) == (1, 1)


def test_names_of_objects(dots: Subtest, sign_in: SignIn) -> None:
    owner = make_member(dots.project, "researcher")
    line = '{"video": "clip", "time": 1.0, "objects": ["left dot"]}'
    import_objects(owner, dots.project, [line], name="objects.jsonl")
    open_object_check(owner, dots.project, "import")
    execute(str(Job.objects.get().pk))
    page = sign_in(make_member(dots.project, "annotator"), **GERMAN)
    start(page, "/projects/dots/work/objects/", "[data-marked]")
    page.keyboard.press("v")
    is_restored(page)
    sends_nothing(page, ObjectAnswer.objects.exists)
    page.keyboard.press("x")
    page.keyboard.press("Control+Enter")
    wait_for(page, ObjectAnswer.objects.exists)
    assert ObjectAnswer.objects.get().visible == [False]


def test_questions_of_practice(dots: Subtest, sign_in: SignIn) -> None:
    project, clip = dots.project, dots.project.videos.get()
    texts = {"caption_text": CAPTION, "foil_text": FOIL, "answer": "caption"}
    GoldPair.objects.create(project=project, use="practice", subtest=dots, video=clip, **texts)
    QualityPolicy.objects.create(project=project, practice_open=True)
    page = sign_in(make_member(project, "validator"), **GERMAN)
    page.goto("/projects/dots/practice/")
    page.get_by_role("button", name="Start").first.click()
    page.wait_for_selector(WORK)
    page.keyboard.press("1")
    is_restored(page)
    sends_nothing(page, lambda: bool(Attempt.objects.get().questions.exclude(answered_at=None)))
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You answered:")).to_be_visible()


def test_a_foil_under_review_and_the_other_foils(sign_in: SignIn) -> None:
    world = make_world(foils_per_item=2)
    world.group(FOIL, OTHERS[0], caption=filmed(world))
    world.edit("ann", FOIL, OTHERS[0])
    page = sign_in(world.rita, **GERMAN)
    start(page, f"/projects/{world.project.slug}/work/review/")
    assert page.locator("main [data-stimulus]").filter(has_text=OTHERS[0]).first.evaluate("e => e.translate") is False
    is_restored(page, is_answered=False)
    page.keyboard.press("a")
    wait_for(page, Review.objects.exists)
    assert Review.objects.get().watch["changed"] == 1


def test_a_disputed_item(sign_in: SignIn) -> None:
    world = make_world()
    item = judged(world, "caption", "foil", "both")
    Item.objects.get(pk=item.pk).foils.update(text=FOIL)
    page = sign_in(world.rob, **GERMAN)
    start(page, f"/projects/{world.project.slug}/disputed/")
    is_restored(page, is_answered=False)
    page.keyboard.press("1")
    page.keyboard.press("a")
    wait_for(page, lambda: Item.objects.get(pk=item.pk).state == "valid")
