"""A researcher renames a project, archives it, deletes it and restores it, in a browser."""

import pytest
from playwright.sync_api import expect

from foilworks.core.projects.models import Project
from tests.e2e.conftest import IN_BOTH_WIDTHS, SignIn, assert_accessible
from tests.factories import make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_a_project_is_renamed_archived_deleted_and_restored(sign_in: SignIn, narrow: bool) -> None:
    project = make_project(slug="dots", name="Dots")
    make_subtest(project, name="left and right")
    page = sign_in(make_member(project, "researcher", name="olga"), narrow=narrow, expected=["422"])
    page.goto("/projects/dots/settings/")
    expect(page.get_by_role("heading", name="Project settings")).to_be_visible()
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("Name", exact=True).fill("Moving dots")
    page.get_by_role("button", name="Save name and description").click()
    expect(page.get_by_text("Name and description saved.")).to_be_visible()
    page.get_by_role("button", name="Archive project", exact=True).click()
    expect(page.get_by_role("button", name="Unarchive project")).to_be_visible()
    assert_accessible(page)
    page.get_by_label("Name of the project").fill("Dots")
    page.get_by_role("button", name="Delete project").click()
    expect(page.get_by_text("Enter it exactly to delete the project.")).to_be_visible()
    page.get_by_label("Name of the project").fill("Moving dots")
    page.get_by_role("button", name="Delete project").click()
    expect(page.get_by_role("heading", name="Deleted projects")).to_be_visible()
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Restore Moving dots").click()
    expect(page.get_by_text("Project Moving dots restored.")).to_be_visible()
    assert list(Project.objects.values_list("name", "deleted_at")) == [("Moving dots", None)]
