"""A researcher brings somebody into the project; they sign in with what they were told and choose their own."""

import pytest
from playwright.sync_api import expect

from foilworks.core.projects.models import Membership, Project
from tests.e2e.conftest import IN_BOTH_WIDTHS, OpenTab, SignIn, assert_accessible
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    project = make_project(slug="dots", name="Dots")
    make_member(project, "annotator", "validator", name="a-rather-long-name.of-somebody@example.org")
    return project


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_the_page_of_people_is_accessible_and_fits(project: Project, sign_in: SignIn, narrow: bool) -> None:
    page = sign_in(make_member(project, "researcher", name="olga"), narrow=narrow)
    page.goto("/projects/dots/people/")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="a-rather-long-name").click()
    if narrow:
        expect(page.get_by_role("heading", level=1)).to_contain_text("a-rather-long-name")
    page.get_by_text("Remove", exact=False).first.click()
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto("/password/")
    assert_accessible(page)


def test_roles_are_changed_in_the_panel_of_a_member(project: Project, sign_in: SignIn) -> None:
    member = make_member(project, "annotator", name="nora")
    page = sign_in(make_member(project, "researcher", name="olga"))
    page.goto("/projects/dots/people/")
    page.get_by_role("link", name="nora").click()
    page.get_by_role("group", name="Roles of nora").get_by_label("reviewer").check()
    page.get_by_role("button", name="Save the roles of nora").click()
    expect(page.get_by_text("Roles of nora saved.")).to_be_visible()
    assert set(member.memberships.values_list("role", flat=True)) == {"annotator", "reviewer"}


@pytest.mark.full
def test_a_new_person_signs_in_with_the_shown_password(project: Project, sign_in: SignIn, open_tab: OpenTab) -> None:
    owner = sign_in(make_member(project, "researcher", name="olga"))
    owner.goto("/projects/dots/people/")
    owner.get_by_label("User name").fill("nora")
    owner.get_by_role("region", name="Add a person").get_by_role("checkbox", name="annotator").check()
    owner.get_by_label("Create a new account").check()
    owner.get_by_role("button", name="Add").click()
    expect(owner.get_by_role("heading", name="Account created for nora")).to_be_visible()
    assert_accessible(owner)
    password = owner.locator(".password").inner_text()
    assert list(Membership.objects.filter(person__username="nora").values_list("role", flat=True)) == ["annotator"]

    page = open_tab()
    page.goto("/")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Username").fill("nora")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Old password").fill(password)
    page.get_by_label("New password", exact=True).fill("a longer thing 42")
    page.get_by_label("New password confirmation").fill("a longer thing 42")
    page.get_by_role("button", name="Change password").click()
    page.get_by_role("link", name="Dots").click()
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()
