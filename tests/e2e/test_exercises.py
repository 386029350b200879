"""Practice and the qualification by keyboard, wide and narrow; the researcher's pages of quality are accessible."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Attempt, GoldPair, PracticeCaption, QualityPolicy, Standing
from foilworks.core.corpus.models import Video
from foilworks.core.projects.models import Project
from tests.e2e.conftest import (
    CAPTION,
    IN_BOTH_WIDTHS,
    SignIn,
    assert_accessible,
    assert_accessible_wide_and_narrow,
    film,
    moving_dot,
)
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db(transaction=True)
FOIL = "a red dot moves to the left."
READY = "[data-player][data-ready]"


@pytest.fixture
def quiz() -> Project:
    """One question of each kind in practice, two in the qualification, all on one real clip."""
    project = make_project(slug="dots", name="Dots")
    subtest = make_subtest(project, name="direction")
    clip = film(project, moving_dot(), 12.0)
    caption = make_caption(clip, CAPTION)
    PracticeCaption.objects.create(project=project, caption=caption, examples=[FOIL], explanation="Only the direction.")
    pair(project, subtest, clip, "practice")
    pair(project, subtest, clip, "qualification")
    pair(project, subtest, clip, "qualification", mismatched=True)
    QualityPolicy.objects.create(
        project=project,
        practice_open=True,
        qualification_open=True,
        qualification_required=True,
        test_length=2,
        mismatched_share=0.5,
        secret=4,
    )
    make_item(subtest, caption, (FOIL,))
    return project


def pair(project: Project, subtest, clip: Video, use: str, *, mismatched: bool = False) -> None:
    texts = ("a cat climbs a tree.", "a cat leaves a tree.") if mismatched else (CAPTION, FOIL)
    GoldPair.objects.create(
        project=project,
        use=use,
        subtest=subtest,
        video=clip,
        caption_text=texts[0],
        foil_text=texts[1],
        answer="neither" if mismatched else "caption",
        mismatched=mismatched,
        explanation="Watch where it ends.",
    )


def press(page: Page, key: str) -> None:
    """The key leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)


def right_key(page: Page) -> str:
    """The number key of the right answer, read off the screen as a person would."""
    texts = [text.strip() for text in page.locator(".pair .sentence").all_text_contents()]
    return str(texts.index(CAPTION) + 1) if CAPTION in texts else "3"


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_practice_and_the_test_are_taken_by_keyboard_alone(quiz: Project, sign_in: SignIn, narrow: bool) -> None:
    person = make_member(quiz, "annotator", "validator", name="vera")
    page = sign_in(person, narrow=narrow)
    # The first request loads every view.
    page.goto("/projects/dots/work/")
    press(page, "p")
    expect(page.get_by_role("heading", name="Practice")).to_be_visible()
    assert_accessible(page)
    practise_editing(page)
    press(page, "n")
    practise_judging(page)
    page.goto("/projects/dots/work/validation/")
    expect(page.get_by_role("main")).to_contain_text("take the short qualification test")
    assert_accessible(page)
    press(page, "t")
    take_the_test(page)
    assert Standing.objects.get(person=person).qualified_at is not None
    # The way to the work is open.
    press(page, "n")
    expect(page.get_by_role("button", name="Start next")).to_be_visible()
    page.keyboard.press("n")
    page.wait_for_url("**/work/validation/*/")
    page.wait_for_selector(READY)


def practise_editing(page: Page) -> None:
    press(page, "1")
    page.wait_for_selector(READY)
    assert_accessible(page)
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a red dot moves to the top.")
    expect(page.locator("[data-changed]")).to_have_text("1")
    press(page, "Control+Enter")
    expect(page.get_by_role("status").filter(has_text="Correct: you changed the same words")).to_be_visible()
    expect(page.get_by_text("Only the direction.")).to_be_visible()
    assert_accessible(page)
    press(page, "n")
    expect(page.get_by_role("heading", name="Practice completed")).to_be_visible()


def practise_judging(page: Page) -> None:
    press(page, "2")
    page.wait_for_selector(READY)
    assert_accessible(page)
    page.keyboard.press("4")
    press(page, "Control+Enter")
    expect(page.get_by_role("status").filter(has_text="Incorrect.")).to_be_visible()
    expect(page.get_by_text("Watch where it ends.")).to_be_visible()
    assert_accessible(page)
    press(page, "n")
    expect(page.get_by_text("0 of 1 correct.")).to_be_visible()


def take_the_test(page: Page) -> None:
    expect(page.get_by_role("heading", name="Qualification")).to_be_visible()
    assert_accessible(page)
    press(page, "n")
    for number in (1, 2):
        page.wait_for_selector(READY)
        expect(page.get_by_text(f"{number} of 2")).to_be_visible()
        key = right_key(page)
        page.keyboard.press(key)
        # The same key again sends.
        press(page, key)
    expect(page.get_by_role("heading", name="You have passed")).to_be_visible()
    assert_accessible(page)
    assert Attempt.objects.get(stage="qualification").passed is True


@pytest.mark.full
def test_the_researchers_pages_of_quality_are_accessible_and_fit(quiz: Project, sign_in: SignIn) -> None:
    paused = make_member(quiz, "validator", name="a-rather-long-name.of-somebody@example.org")
    Standing.objects.create(
        policy=quiz.quality, person=paused, state="paused", paused_why="gold", paused_at="2026-01-01T00:00Z"
    )
    page = sign_in(make_member(quiz, "researcher", name="olga"))
    for path in ("quality/", "quality/gold/practice/", "quality/gold/qualification/", "validators/", "quality/label/"):
        page.goto(f"/projects/dots/{path}")
        assert_accessible_wide_and_narrow(page)
    page.wait_for_selector(READY)
    page.keyboard.press("5")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("1 of 10 labelled")).to_be_visible()
    page.goto("/projects/dots/validators/")
    page.get_by_role("button", name=f"Actions {paused.username}").press("Enter")
    page.get_by_role("button", name=f"Resume {paused.username}").press("Enter")
    expect(page.get_by_text("quality results are counted again from zero")).to_be_visible()
    assert not Standing.objects.filter(state="paused").exists()
