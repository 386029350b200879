"""A researcher works without a mouse: every stop of the focus is seen, none is lost, and none is a trap."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project, Role
from generation.models.runs import GenerationRun
from tests.e2e.conftest import SignIn, film, moving_dot
from tests.factories import make_caption, make_item, make_member

pytestmark = pytest.mark.django_db(transaction=True)
MAX_STOPS = 80
# What is wrong with the place of the focus: nothing has it, no ring shows it, or something lies over it.
FAULT = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return "nothing has the focus";
  const said = `${one.tagName} ${one.id} ${(one.getAttribute("aria-label") || one.textContent).trim().slice(0, 40)}`;
  if (!one.matches(":focus-visible")) return `no visible focus: ${said}`;
  const ringed = (part) => part && getComputedStyle(part).outlineStyle !== "none"
    && parseFloat(getComputedStyle(part).outlineWidth) >= 2;
  const shown = [one, one.parentElement, one.closest("label")].find(ringed);
  if (!shown) return `no outline: ${said}`;
  const { left, top, width, height } = shown.getBoundingClientRect();
  if (!width || !height) return `no size: ${said}`;
  const [x, y] = [left + Math.min(width, 20) / 2, top + Math.min(height, 20) / 2];
  const at = document.elementFromPoint(x, y);
  if (!at) return `out of sight: ${said}`;
  return shown.contains(at) || at.contains(shown) ? "" : `covered by ${at.tagName} ${at.className}: ${said}`;
}"""
HAS_FOCUS = "(one) => one === document.activeElement"


def reach(page: Page, wanted: Locator, key: str = "Tab") -> None:
    """Press the key until the wanted element has the focus; each stop before it is looked at, too."""
    expect(wanted).to_be_visible()
    for _stop in range(MAX_STOPS):
        page.keyboard.press(key)
        fault = page.evaluate(FAULT)
        assert not fault, f"{page.url}: {fault}"
        if wanted.evaluate(HAS_FOCUS):
            return
    raise AssertionError(f"{page.url}: {wanted} is not reached")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    reach(page, wanted)
    page.keyboard.press(key)


def open_from_menu(page: Page, menu: str, name: str, heading: str = "") -> None:
    bar = page.get_by_role("navigation", name="Project")
    press(page, bar.get_by_role("button", name=menu))
    press(page, bar.get_by_role("link", name=name, exact=True))
    expect(page.get_by_role("heading", level=1)).to_have_text(heading or name)


def count_stops(page: Page) -> int:
    """Go once around the page: the number of stops until the focus leaves it at its end."""
    for stops in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            return stops
    raise AssertionError(f"{page.url}: the focus never leaves the page")


@pytest.fixture
def page(project: Project, sign_in: SignIn) -> Page:
    owner = make_member(project, Role.RESEARCHER, name="olga")
    caption = make_caption(film(project, moving_dot(), 12.0), "a red dot moves to the right.")
    for n in range(4):
        state = ItemState.VALID if n else ItemState.IN_VALIDATION
        make_item(project.subtests.get(), caption, (f"a red dot stops {n} times.",), key=f"item-{n}", state=state)
    freeze_release(owner, project, name="v1")
    page = sign_in(owner)
    page.goto("/")
    return page


@pytest.mark.full
def test_a_run_is_started_without_a_mouse(page: Page, project: Project) -> None:
    press(page, page.get_by_role("link", name=re.compile(project.name)))
    expect(page.get_by_role("navigation", name="Project")).to_be_visible()
    # Past the bar with one key.
    press(page, page.get_by_role("link", name="Skip to content"))
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    page.reload()
    open_from_menu(page, "Generate", "Runs", "Generation runs")
    press(page, page.get_by_role("link", name="New run").first)
    reach(page, page.get_by_role("searchbox", name="Find a method"))
    page.keyboard.type("deterministic")
    press(page, page.get_by_role("group", name="Method").get_by_role("radio"), "Space")
    lexicon, preview = page.get_by_label("Lexicon"), page.locator("#run-preview")
    expect(lexicon).to_be_visible()
    reach(page, lexicon)
    page.keyboard.press("Control+a")
    page.keyboard.type("right:left")
    expect(preview.locator("ins").first).to_have_text("added: left")
    expect(lexicon).to_be_focused()
    press(page, page.get_by_role("button", name="Start run"))
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    run = GenerationRun.objects.latest("pk")
    assert (run.method, run.params["lexicon"]) == ("fake", "right:left")
    press(page, page.get_by_role("link", name="Thresholds"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thresholds")


@pytest.mark.full
def test_items_are_read_moved_and_downloaded_without_a_mouse(page: Page, project: Project) -> None:
    press(page, page.get_by_role("link", name=re.compile(project.name)))
    open_from_menu(page, "Content", "Items")
    rows, panel = page.locator("[data-row]"), page.get_by_role("complementary", name="Selected row")
    # A group of chips is one stop, and arrows choose in it.
    chips = page.get_by_role("group", name="State")
    reach(page, chips.get_by_role("radio", checked=True))
    reach(page, chips.get_by_role("radio", name="valid", exact=True), "ArrowRight")
    expect(rows).to_have_count(3)
    expect(chips.get_by_role("radio", name="valid", exact=True)).to_be_focused()
    # Opened by key, the panel has the focus; closed, its row has it again.
    page.keyboard.press("j")
    page.keyboard.press("j")
    row = rows.nth(1).get_by_role("link").first
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("region", name="Details")).to_be_focused()
    reach(page, panel.get_by_role("button", name=re.compile("Play|Pause")).first)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(row).to_be_focused()
    # Two rows move together and come back.
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    reach(page, page.get_by_label("Reason"))
    page.keyboard.type("the clip is too dark")
    press(page, page.get_by_role("button", name="Retract item"))
    expect(page.get_by_text("You can undo these 2 decisions")).to_be_visible()
    assert Item.objects.filter(state=ItemState.RETRACTED).count() == 2
    press(page, page.get_by_role("button", name="Undo"))
    expect(rows).to_have_count(3)
    assert not Item.objects.filter(state=ItemState.RETRACTED).exists()
    assert count_stops(page) > 10
    open_from_menu(page, "Results", "Releases")
    press(page, page.get_by_role("link", name="v1", exact=True))
    expect(page.get_by_role("heading", level=1)).to_have_text("v1")
    download = page.get_by_role("link", name="Download").or_(page.get_by_role("button", name="Download")).first
    reach(page, download)
    with page.expect_download() as download_info:
        page.keyboard.press("Enter")
    assert download_info.value.suggested_filename
