"""The search of a project by its key: from a page without a search field, and not from one with its own."""

import re

import pytest
from playwright.sync_api import expect

from foilworks.core.projects.models import Project, Role
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    project = make_project(slug="dots")
    caption = make_caption(make_video(project), "a red dot moves to the right.")
    make_item(make_subtest(project), caption, ("a red dot moves to the left.",), key="dot-1")
    return project


@pytest.mark.full
def test_the_key_opens_the_search_and_typing_finds(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, Role.RESEARCHER, name="olga"))
    page.goto("/projects/dots/subtests/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Search")
    field = page.get_by_role("searchbox", name="Search the project")
    expect(field).to_be_focused()
    page.wait_for_function("window.htmx !== undefined")
    field.press_sequentially("to the left")
    expect(page.get_by_role("heading", name="Items", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?q=to\+the\+left|\?q=to%20the%20left"))
    assert_accessible_wide_and_narrow(page)
    page.get_by_role("link", name="See all in Items").click()
    expect(page).to_have_url(re.compile(r"/items/\?q=to\+the\+left"))
    expect(page.get_by_role("link", name="dot-1")).to_be_visible()
    # A list has its own field.
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search keys, captions and foils")).to_be_focused()
