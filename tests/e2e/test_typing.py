"""Keys of other keyboards, words without a break, and times of other zones: as people type, read and live."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Stage
from foilworks.core.corpus.models import Caption, Item, Video
from foilworks.core.projects.models import Project
from generation.models import Candidate, GenerationRun
from tests.e2e.conftest import NARROW, WIDE, WORK, SignIn, film
from tests.factories import make_member, make_project
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db(transaction=True)

ALT, CTRL, SHIFT = 1, 2, 8
PLAYER = "[data-player]"
Strike = Callable[..., None]
WATCH = """(which) => window.addEventListener("keydown", (event) => {
  if (event.keyCode === which) window.prevented = event.defaultPrevented;
})"""


def strike(page: Page, key: str, code: str, modifiers: int = 0, number: int = 0) -> None:
    """Press and release a key of any layout, as the operating system reports it; a character is typed."""
    wire = page.context.new_cdp_session(page)
    event = {"key": key, "code": code, "modifiers": modifiers, "windowsVirtualKeyCode": number}
    typed = {"type": "keyDown", "text": key} if len(key) == 1 and not modifiers & CTRL else {"type": "rawKeyDown"}
    wire.send("Input.dispatchKeyEvent", {**event, **typed})
    wire.send("Input.dispatchKeyEvent", {**event, "type": "keyUp"})
    wire.detach()


def open_foil(page: Page) -> None:
    """The page of the first foil to edit, with the focus in its empty text box."""
    page.goto("/projects/dots/work/edit/")
    page.keyboard.press("n")
    page.wait_for_selector(WORK)
    page.get_by_role("textbox", name="Foil").fill("")


def open_clip(page: Page, project: Project) -> None:
    video = film(project, painted_clip(10), 10.0)
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    page.wait_for_selector(f"{PLAYER}[data-ready]")


TYPED = [
    # Polish and German on a Mac: Option types letters and signs.
    [("b", "KeyB"), ("y", "KeyY"), ("ł", "KeyL", ALT), ("Ł", "KeyL", ALT | SHIFT), ("ą", "KeyA", ALT)],
    [("@", "KeyL", ALT), ("µ", "KeyM", ALT), ("®", "KeyR", ALT), ("[", "Digit5", ALT), ("|", "Digit7", ALT)],
    [("“", "BracketLeft", ALT), ("\N{NO-BREAK SPACE}", "Space", ALT), ("\\", "Digit7", ALT | SHIFT)],
    # Polish on Linux: AltGr is no Alt.
    [("ł", "KeyL"), ("ó", "KeyO")],
]


def test_a_text_box_takes_every_character(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator"))
    open_foil(page)
    box = page.get_by_role("textbox", name="Foil")
    for keys in TYPED:
        box.fill("")
        for key in keys:
            strike(page, *key)
        expect(box).to_have_value("".join(key for key, *_ in keys))
    expect(page.locator(PLAYER)).to_have_attribute("data-state", "playing")


def test_the_caption_is_copied_by_a_button_or_a_key_and_the_copy_is_undone(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator"))
    open_foil(page)
    box, copy = page.get_by_role("textbox", name="Foil"), page.get_by_role("button", name="Copy the caption")
    caption = Caption.objects.values_list("text", flat=True).get()
    box.fill("a slip")
    copy.click()
    expect(box).to_have_value(caption)
    expect(box).to_be_focused()
    # A beginning is not yet a mistake, and cannot be copied again.
    expect(box).to_have_attribute("aria-invalid", "false")
    expect(copy).to_be_hidden()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(box).to_have_value("a slip")
    strike(page, "c", "KeyC", ALT)
    expect(box).to_have_value(caption)
    # The browser's own undo knows it as well; what is typed since is not undone by the button.
    page.keyboard.press("Control+z")
    expect(box).to_have_value("a slip")
    page.keyboard.type("!")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_hidden()


def test_alt_reaches_the_player_on_any_layout_that_types_nothing_with_it(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator"))
    open_foil(page)
    strike(page, "л", "KeyK")
    strike(page, "л", "KeyK", ALT)
    expect(page.locator(PLAYER)).to_have_attribute("data-state", "paused")
    expect(page.get_by_role("textbox", name="Foil")).to_have_value("л")


def test_on_a_mac_the_player_has_ctrl_and_option(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator"), alone=True)
    page.add_init_script("Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' })")
    open_foil(page)
    strike(page, "k", "KeyK", ALT)
    expect(page.get_by_role("textbox", name="Foil")).to_have_value("k")
    expect(page.locator(PLAYER)).to_have_attribute("data-state", "playing")
    strike(page, "k", "KeyK", ALT | CTRL)
    expect(page.locator(PLAYER)).to_have_attribute("data-state", "paused")


def test_the_enter_that_ends_a_composition_is_not_a_shortcut(project: Project, sign_in: SignIn) -> None:
    """Safari sends it after the end, with isComposing false."""
    page = sign_in(make_member(project, "annotator"))
    open_foil(page)
    address = page.url
    for number, is_prevented in ((229, False), (13, True)):
        page.evaluate(WATCH, number)
        strike(page, "Enter", "Enter", number=number)
        assert page.evaluate("window.prevented") is is_prevented
    strike(page, "Enter", "Enter", CTRL, number=229)
    expect(page.get_by_role("textbox", name="Foil")).to_be_focused()
    assert page.url == address


def test_single_keys_work_by_their_place(sign_in: SignIn) -> None:
    project = make_project()
    page = sign_in(make_member(project, "researcher"))
    open_clip(page, project)
    player = page.locator(PLAYER)
    for key in ("л", "κ", "ن", "K"):  # Russian, Greek, Arabic, Caps Lock
        expect(player).to_have_attribute("data-state", "paused")
        strike(page, key, "KeyK")
        expect(player).to_have_attribute("data-state", "playing")
        strike(page, "k", "KeyK")
    strike(page, "r", "KeyR")
    page.locator("[data-player-scrub]").fill("0")
    expect(player).to_have_attribute("data-shown", "0")
    strike(page, "ю", "Period")
    expect(player).to_have_attribute("data-shown", "1")


def test_altgr_types_a_key_of_the_page_outside_of_a_text_box_alone(sign_in: SignIn) -> None:
    project = make_project()
    page = sign_in(make_member(project, "researcher"))
    open_clip(page, project)
    # German on Windows: AltGr is reported as Ctrl and Alt.
    prevented = page.evaluate(
        """() => {
          const altGr = { ctrlKey: true, altKey: true, modifierAltGraph: true };
          const german = { key: "[", code: "Digit8", ...altGr, bubbles: true, cancelable: true };
          const box = document.body.appendChild(document.createElement("textarea"));
          const inside = new KeyboardEvent("keydown", german);
          box.dispatchEvent(inside);
          const outside = new KeyboardEvent("keydown", german);
          document.body.dispatchEvent(outside);
          return [inside.defaultPrevented, outside.defaultPrevented];
        }"""
    )
    assert prevented == [False, True]
    expect(page.locator("[data-player-do='a']")).to_have_attribute("aria-pressed", "true")


@pytest.mark.full
def test_the_digits_of_a_french_keyboard_need_no_shift(project: Project, sign_in: SignIn) -> None:
    validate(project)
    page = sign_in(make_member(project, "validator"))
    page.goto("/projects/dots/work/validation/")
    page.keyboard.press("n")
    page.wait_for_selector(WORK)
    strike(page, "é", "Digit2")
    expect(page.locator(".choices input").nth(1)).to_be_checked()
    # Without Shift it is the digit one; with it, a US keyboard types the same sign.
    strike(page, "&", "Digit7", SHIFT)
    expect(page.locator(".choices input").nth(1)).to_be_checked()
    strike(page, "&", "Digit1")
    expect(page.locator(".choices input").nth(0)).to_be_checked()


def validate(project: Project) -> Item:
    """An item that waits for votes."""
    ann, rev = make_member(project, "annotator"), make_member(project, "reviewer")
    candidate = Candidate.objects.get(author=None)
    submit_edit(ann, claim(ann, project, Stage.EDIT).token, "edited", [candidate.text], [candidate.pk])
    submit_review(rev, claim(rev, project, Stage.REVIEW).token, "accepted", ReviewAnswer("accept"))
    return Item.objects.get()


@pytest.mark.full
def test_a_word_without_a_break_stays_on_its_card(project: Project, sign_in: SignIn) -> None:
    word = "x" * 400
    Caption.objects.update(text=f"a red {word} moves to the right.")
    Candidate.objects.update(text=f"a red {word} moves to the left.")
    candidate, run, video = Candidate.objects.get(), GenerationRun.objects.get(), Video.objects.get()
    researcher = sign_in(make_member(project, "researcher"))
    too_wide = [
        *excess(researcher, f"candidates/{candidate.pk}/"),
        *excess(researcher, f"runs/{run.pk}/"),
        *excess(researcher, f"runs/{run.pk}/?state=queued"),
        *excess(researcher, f"videos/{video.pk}/"),
    ]
    ann, rev = make_member(project, "annotator"), make_member(project, "reviewer")
    work = claim(ann, project, Stage.EDIT)
    too_wide += excess(sign_in(ann), f"work/edit/{work.token}/")
    submit_edit(ann, work.token, "edited", [candidate.text], [candidate.pk])
    work = claim(rev, project, Stage.REVIEW)
    too_wide += excess(sign_in(rev), f"work/review/{work.token}/")
    submit_review(rev, work.token, "accepted", ReviewAnswer("accept"))
    validator = make_member(project, "validator")
    work = claim(validator, project, Stage.VALIDATION)
    too_wide += excess(sign_in(validator), f"work/validation/{work.token}/")
    too_wide += excess(researcher, f"items/{Item.objects.get().pk}/")
    too_wide += excess(researcher, "items/")
    assert too_wide == []


def excess(page: Page, address: str) -> list[tuple[str, int, int]]:
    """(address, width of the window, pixels too many) of each width in which the page scrolls sideways."""
    answer = page.goto(f"/projects/dots/{address}")
    assert answer is not None
    assert answer.ok, address
    found = []
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        more = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        found += [(address, size["width"], more)] if more > 0 else []
    return found


def test_times_are_those_of_the_readers_zone(project: Project, sign_in: SignIn) -> None:
    GenerationRun.objects.update(created_at=datetime(2026, 11, 24, 21, 30, tzinfo=UTC))
    researcher = make_member(project, "researcher")
    page = sign_in(researcher, timezone_id="Asia/Kolkata")
    page.goto("/projects/dots/runs/")
    time = page.locator("time").first
    expect(time).to_have_text("25 Nov 2026, 03:00 GMT+5:30")
    expect(time).to_have_attribute("datetime", "2026-11-24T21:30:00Z")
    expect(time).to_have_attribute("title", "24 Nov 2026, 21:30 UTC")
    page = sign_in(researcher, java_script_enabled=False)
    page.goto("/projects/dots/runs/")
    expect(page.locator("time").first).to_have_text("24 Nov 2026, 21:30 UTC")
