"""A page of the documentation in a real browser: readable, no wider than a phone, and found from where it is needed."""

import pytest
from playwright.sync_api import expect

from foilworks.core.projects.models import Role
from tests.e2e.conftest import OpenTab, SignIn, assert_accessible_wide_and_narrow
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_with_tables_and_code_is_readable(open_tab: OpenTab, scheme: str) -> None:
    page = open_tab(color_scheme=scheme)
    page.goto("/help/how-to/score/")
    expect(page.get_by_role("heading", name="Score a model", exact=True)).to_be_visible()
    assert_accessible_wide_and_narrow(page)


def test_learn_more_leads_to_the_page_and_its_links_to_others(sign_in: SignIn) -> None:
    project = make_project()
    page = sign_in(make_member(project, Role.RESEARCHER))
    page.goto(f"/projects/{project.slug}/imports/")
    page.get_by_role("link", name="Learn more").click()
    expect(page).to_have_url("/help/how-to/import/")
    page.get_by_role("navigation", name="Help").get_by_role("link", name="Reference").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reference")
    page.get_by_role("article").get_by_role("link", name="Settings").click()
    expect(page).to_have_url("/help/reference/environment/")
