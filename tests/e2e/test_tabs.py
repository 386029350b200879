"""A tab that a test gave back knows nothing of it: the next one finds it as if it were new."""

import pytest
from playwright.sync_api import Page

from tests.e2e.tabs import NARROW, WIDE, Tabs

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/sign-in/"
# Bytes that came over the line, by address: 0 for what the browser had. It asks for the icon when it likes.
FETCHED = """performance.getEntriesByType("resource")
  .filter((entry) => !entry.name.endsWith("icon.svg")).map((entry) => [entry.name, entry.transferSize])"""
KEPT = """[document.cookie.includes("a=1"), localStorage.length, sessionStorage.length, history.length, innerWidth,
  navigator.onLine]"""
LEAVE_TRACES = """() => {
  document.cookie = "a=1";
  localStorage.setItem("a", "1");
  sessionStorage.setItem("a", "1");
}"""


def sizes(page: Page) -> dict[str, int]:
    page.goto(ADDRESS)
    return dict(page.evaluate(FETCHED))


def test_a_returned_tab_is_as_good_as_new(tabs: Tabs) -> None:
    page = tabs.take(WIDE)
    first = sizes(page)
    fresh = page.evaluate(KEPT)
    assert first
    assert all(first.values())
    assert 0 in sizes(page).values(), "files are kept, so what follows shows something"
    page.evaluate(LEAVE_TRACES)
    page.route("**/*", lambda route: route.abort())
    page.context.set_offline(True)
    tabs.give_back(page)
    again = tabs.take(WIDE)
    assert again is page
    assert again.context.cookies() == []
    assert sizes(again) == first
    assert again.evaluate(KEPT) == fresh
    tabs.give_back(again)


def test_a_tab_that_was_closed_or_has_company_is_not_used_again(tabs: Tabs) -> None:
    closed, crowded = tabs.take(NARROW), tabs.take(NARROW)
    assert closed.context != crowded.context
    closed.close()
    crowded.context.new_page()
    for page in (closed, crowded):
        tabs.give_back(page)
        assert page not in tabs.tidy
