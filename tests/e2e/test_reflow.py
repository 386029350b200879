"""Work pages at 400 % zoom with the text spacing of WCAG 1.4.12: sizes of targets, no motion, regions that speak."""

import pytest
from playwright.sync_api import Page, expect

from tests.annotation.world import World
from tests.e2e.conftest import SignIn, assert_accessible
from tests.e2e.test_phone import PAGES, begin, world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
__all__ = ["world"]

# A window of 1280 x 1024 at 400 %.
ZOOMED = {"width": 320, "height": 256}
SPACING = """* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }
p { margin-bottom: 2em !important; }"""
# The policy of the pages refuses a style element.
ADOPT = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [sheet];
}"""
MIN_TARGET = 24
# Controls that are smaller than MIN_TARGET and those whose label is cut off. A box inside a label is pressed with it.
FAULTS = """(min) => [...document.querySelectorAll("main button, main summary, main label:has(input), main select")]
  .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 1)
  .filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    return width < min || height < min || element.scrollWidth > element.clientWidth + 1;
  })
  .map((element) => element.outerHTML.slice(0, 120))"""


def sideways(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.mark.parametrize("stage", PAGES)
def test_a_zoomed_work_page_with_wide_text_loses_nothing(world: World, sign_in: SignIn, stage: str) -> None:
    prepare, _clip, parts = PAGES[stage]
    person, path = prepare(world)
    page = sign_in(person, reduced_motion="reduce")
    begin(page, path)
    page.set_viewport_size(ZOOMED)
    assert sideways(page) <= 0
    page.evaluate(ADOPT, SPACING)
    assert sideways(page) <= 0
    assert page.evaluate(FAULTS, MIN_TARGET) == []
    for selector in parts:
        page.locator(selector).first.scroll_into_view_if_needed()
        expect(page.locator(selector).first).to_be_in_viewport()
    assert_accessible(page)
    # A screen reader finds one heading of the page, its main part, and a region that says what happened.
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("main")).to_have_count(1)
    assert page.locator("[role=status], [role=alert], [aria-live]").count() > 0
    # Nothing plays by itself if people want no motion.
    assert page.locator("video").evaluate_all("(videos) => videos.every((video) => video.paused)")
