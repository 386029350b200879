"""Invitations, consent, accounts and crowd studies in a browser: wide and narrow, by keyboard, with axe."""

import re
from datetime import timedelta

import pyotp
import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.actions.crowd import enter_study
from foilworks.core.projects.actions.consent import publish_consent_text
from foilworks.core.projects.actions.invitations import make_invitation
from foilworks.core.projects.crowd_entry import Entry
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, Membership, Project, SecondFactor, User
from tests.e2e.conftest import OpenTab, SignIn, assert_accessible
from tests.e2e.tabs import NARROW, WIDE
from tests.factories import PASSWORD, make_item, make_member, make_project, make_subtest, make_user

pytestmark = pytest.mark.django_db(transaction=True)
QUERY = "PROLIFIC_PID=60fd5aab8b6c0b0d4e0f1a2b&STUDY_ID=5f0000000000000000000001&SESSION_ID=61aa5aab8b6c0b0d4e0f1a2c"


@pytest.fixture
def project() -> Project:
    project = make_project(slug="dots", name="Dots", description="Which of two sentences is true of a short clip?")
    make_item(make_subtest(project))
    return project


@pytest.fixture
def owner(project: Project) -> User:
    return make_member(project, "researcher", name="olga")


@pytest.fixture
def study(project: Project, owner: User) -> CrowdStudy:
    fields = {"platform": "prolific", "platform_study": "5f0000000000000000000001", "stage": "validation"}
    return CrowdStudy.objects.create(project=project, name="pilot", role="validator", pieces=5, places=9, **fields)


@pytest.fixture
def visitor(open_tab: OpenTab) -> Page:
    """Somebody with no account, on a phone; a link that was used before is refused."""
    return open_tab(narrow=True, expected=["403 (Forbidden)"])


def looked_at(page: Page, *addresses: str) -> None:
    """Each address is accessible, wide and narrow."""
    for address in addresses:
        page.goto(address)
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            assert_accessible(page)


@pytest.mark.full
def test_the_owners_pages_are_accessible_and_fit(project, owner, study, sign_in: SignIn) -> None:
    page = sign_in(owner)
    looked_at(page, *(f"/projects/dots/{name}/" for name in ("invitations", "consent/texts", "crowd")))
    make_invitation(owner, project, ["annotator", "validator"], most_uses=None, note="The summer school")
    publish_consent_text(owner, project, "You watch clips.\n\nYou may stop at any time.", "choose")
    places = [enter_study(study, Entry(f"60fd5aab8b6c0b0d4e0f1a2{n}", f"s{n}")) for n in range(2)]
    CrowdPlace.objects.filter(pk=places[0].pk).update(deadline=timezone.now() - timedelta(minutes=1))
    addresses = ("invitations", "consent/texts", "crowd", f"crowd/{study.pk}", f"people/{places[0].person_id}/erase")
    looked_at(page, *(f"/projects/dots/{name}/" for name in addresses))


@pytest.mark.full
def test_the_pages_of_an_account_are_accessible_and_fit(project, owner, sign_in: SignIn) -> None:
    publish_consent_text(owner, project, "You may stop at any time.", "choose")
    page = sign_in(make_member(project, "annotator", "validator", name="ann"))
    looked_at(page, "/account/", "/account/second-factor/", "/account/erase/")
    looked_at(page, "/projects/dots/consent/", "/projects/dots/leave/")


def test_an_invitation_is_made_sent_and_used(project, owner, sign_in: SignIn, visitor: Page) -> None:
    page = sign_in(owner)
    page.goto("/projects/dots/invitations/")
    # No role is chosen beforehand.
    assert page.locator("[name=roles]:checked").count() == 0
    for role in ("annotator", "validator"):
        page.get_by_role("checkbox", name=role).check()
    page.get_by_role("button", name="Create invitation").press("Enter")
    link = page.locator("p.link").inner_text()
    publish_consent_text(owner, project, "You may stop at any time.", "keep")

    visitor.goto(re.sub(r"^https?://[^/]+", "", link))
    assert_accessible(visitor)
    visitor.get_by_label("Username").fill("nora")
    visitor.get_by_label("Password", exact=True).fill("a long one 42")
    visitor.get_by_label("Password confirmation").fill("a long one 42")
    visitor.get_by_role("button", name="Create account and join").click()
    # The first page of the project asks for consent.
    expect(visitor.get_by_role("heading", name="Consent text")).to_be_visible()
    assert_accessible(visitor)
    visitor.get_by_label("I have read this and agree.").press("Space")
    visitor.get_by_role("button", name="I agree").press("Enter")
    expect(visitor.get_by_role("heading", name="Dots")).to_be_visible()
    assert set(Membership.objects.filter(person__username="nora").values_list("role", flat=True)) == {
        "annotator",
        "validator",
    }


@pytest.mark.full
def test_a_worker_comes_from_the_platform_and_gives_the_place_back(project, owner, study, visitor: Page) -> None:
    publish_consent_text(owner, project, "You may stop at any time.", "remove")
    visitor.goto(f"/enter/{study.key}/?{QUERY}")
    assert_accessible(visitor)
    visitor.get_by_label("I have read this and agree.").check()
    visitor.get_by_role("button", name="Accept and start").click()
    expect(visitor.get_by_role("heading", name="Which is true of the video?")).to_be_visible()
    assert_accessible(visitor)
    visitor.goto("/projects/dots/place/")
    expect(visitor.get_by_role("heading", name="0 of 5 tasks")).to_be_visible()
    assert_accessible(visitor)
    visitor.get_by_text("Stop working on this study").click()
    expect(visitor.get_by_role("button", name="Return submission")).to_be_visible()
    assert_accessible(visitor)
    visitor.get_by_role("button", name="Return submission").click()
    expect(visitor.get_by_text("You no longer have this place")).to_be_visible()
    assert_accessible(visitor)
    CrowdPlace.objects.update(state="completed", ended_at=timezone.now())
    visitor.reload()
    expect(visitor.get_by_text("Your completion code")).to_be_visible()
    assert_accessible(visitor)
    # The same link from somebody else's browser.
    visitor.context.clear_cookies()
    visitor.goto(f"/enter/{study.key}/?{QUERY}")
    visitor.get_by_label("I have read this and agree.").check()
    visitor.get_by_role("button", name="Accept and start").click()
    expect(visitor.get_by_text("The link was already used")).to_be_visible()
    assert_accessible(visitor)


@pytest.mark.full
def test_a_second_factor_is_set_up_and_asked_for(sign_in: SignIn, visitor: Page) -> None:
    ann = make_user("ann")
    page = sign_in(ann)
    page.goto("/account/second-factor/")
    page.get_by_label("Code").fill(pyotp.TOTP(SecondFactor.objects.get(person=ann).secret).now())
    page.get_by_label("Code").press("Enter")
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert_accessible(page)
    code = page.locator("ul.codes li").first.inner_text()
    page.goto("/account/second-factor/")
    assert_accessible(page)

    visitor.goto("/sign-in/")
    assert_accessible(visitor)
    visitor.get_by_label("Username").fill("ann")
    visitor.get_by_label("Password").fill(PASSWORD)
    visitor.get_by_role("button", name="Sign in").click()
    expect(visitor.get_by_label("Code")).to_be_visible()
    assert_accessible(visitor)
    visitor.get_by_label("Code").fill(code)
    visitor.get_by_label("Code").press("Enter")
    expect(visitor.get_by_role("heading", name="Your projects")).to_be_visible()
    visitor.context.clear_cookies()
    visitor.goto("/password/reset/")
    assert_accessible(visitor)
