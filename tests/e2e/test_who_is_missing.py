"""What an owner is told on the way: who is missing, which pairs too few may judge, what a release leaves out, what is
left after it; and what a validator's list of projects says of work that nobody has looked at yet."""

import re

import pytest
from playwright.sync_api import expect

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.actions.members import add_member
from foilworks.core.projects.models import Role, User
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner() -> User:
    """Of a project whose subtest wants three judges a pair; one validator is there."""
    project = make_project(slug="dots", name="Dots")
    owner = make_member(project, Role.RESEARCHER, name="olga")
    make_member(project, Role.VALIDATOR, name="vera")
    subtest = make_subtest(project, name="direction")
    states = (ItemState.VALID, ItemState.IN_VALIDATION, ItemState.DISPUTED, ItemState.INVALID)
    for state in states:
        make_item(subtest, state=state)
    return owner


@pytest.mark.full
def test_the_way_to_a_release_and_behind_it(owner: User, sign_in: SignIn) -> None:
    validator = sign_in(User.objects.get(username="vera"))
    validator.goto("/")
    expect(validator.get_by_text("validation: 1 to do")).to_be_visible()
    assert_accessible_wide_and_narrow(validator)

    page = sign_in(owner)
    page.goto("/projects/dots/")
    expect(
        page.get_by_text("direction needs 3 validators per pair, but only 1 are eligible. Add 2.", exact=False)
    ).to_be_visible()
    expect(page.get_by_text("Still missing: 2 validators.")).to_be_visible()
    assert_accessible_wide_and_narrow(page)
    page.goto("/projects/dots/releases/new/")
    expect(page.get_by_text("Left out: 1 in validation, 1 disputed, 1 invalid.")).to_be_visible()
    assert_accessible_wide_and_narrow(page)

    project = owner.memberships.get().project
    freeze_release(owner, project, name="v1")
    page.goto("/projects/dots/")
    expect(page.get_by_text("Next steps for the release “v1”")).to_be_visible()
    assert_accessible_wide_and_narrow(page)
    page.get_by_text("questions unanswered").locator("..").get_by_role("link", name="Datasheet").click()
    expect(page.get_by_role("heading", name="Datasheet")).to_be_visible()


@pytest.mark.full
def test_fewer_votes_are_wanted_while_nobody_has_been_shown_a_pair(owner: User, sign_in: SignIn) -> None:
    Item.objects.exclude(state=ItemState.IN_VALIDATION).delete()
    page = sign_in(owner, expected=["422 (Unprocessable Entity)"])
    page.goto("/projects/dots/subtests/")
    assert_accessible_wide_and_narrow(page)
    page.get_by_role("link", name="2 of 3 votes (direction)").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Votes of direction")
    assert_accessible_wide_and_narrow(page)
    page.get_by_label("Votes per pair").fill("1")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Lower this number or raise the votes per pair")).to_be_visible()
    assert_accessible_wide_and_narrow(page)
    page.get_by_label("Required votes for the caption").fill("1")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Vote rule of direction saved.")).to_be_visible()
    page.goto("/projects/dots/")
    expect(page.get_by_text("are eligible. Add", exact=False)).to_have_count(0)

    validator = sign_in(User.objects.get(username="vera"))
    validator.goto("/projects/dots/work/")
    validator.get_by_role("button", name=re.compile("Start")).first.click()
    expect(validator.get_by_role("heading", level=1)).to_be_visible()
    page.goto("/projects/dots/subtests/")
    page.get_by_role("link", name="1 of 1 votes (direction)").click()
    expect(page.get_by_text("This rule is fixed. Someone has already seen a pair of this subtest.")).to_be_visible()
    assert_accessible_wide_and_narrow(page)


@pytest.mark.full
def test_a_lost_temporary_password_is_renewed_by_its_button(owner: User, sign_in: SignIn) -> None:
    project = owner.memberships.get().project
    nora = add_member(owner, project, "nora", [Role.ANNOTATOR], new_account=True)
    page = sign_in(owner)
    page.goto("/projects/dots/people/")
    assert_accessible_wide_and_narrow(page)
    page.get_by_role("button", name="New temporary password for nora").click()
    expect(page.get_by_role("heading", name="New temporary password for nora")).to_be_visible()
    assert page.locator(".password").inner_text() != nora.password
    assert_accessible_wide_and_narrow(page)
