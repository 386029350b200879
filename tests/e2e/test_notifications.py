"""A reviewer returns a foil: its author sees it at the bell, opens it by key, and continues with the task."""

import pytest
from playwright.sync_api import expect

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Stage
from foilworks.core.projects.models import Notification, Project, Role
from foilworks.site.notification_rules.follower import follow
from generation.models import Candidate
from tests.e2e.conftest import WORK, SignIn, assert_accessible
from tests.e2e.test_annotation_walk import FOIL
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.full
def test_a_returned_foil_rings_the_authors_bell(project: Project, sign_in: SignIn) -> None:
    follow()
    ann, rev = (make_member(project, role, name=role) for role in (Role.ANNOTATOR, Role.REVIEWER))
    work = claim(ann, project, Stage.EDIT)
    submit_edit(ann, work.token, "edited", [FOIL], [Candidate.objects.get(author=None).pk])
    submit_review(
        rev, claim(rev, project, Stage.REVIEW).token, "returned", ReviewAnswer("send_back", reasons=["grammar"])
    )
    # As `foilworks up` does every quarter of a minute.
    follow()

    page = sign_in(ann)
    page.goto("/")
    bell = page.get_by_role("link", name="Notifications, 1 unread")
    bell.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Notifications", exact=True)).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="A reviewer returned a foil of yours").click()
    page.wait_for_url("**/work/edit/")
    expect(page.get_by_role("link", name="Notifications, 0 unread")).to_be_visible()
    page.keyboard.press("n")
    page.wait_for_url("**/work/edit/*/")
    page.wait_for_selector(WORK)
    expect(page.get_by_role("textbox", name="Foil")).to_have_value(FOIL)
    assert not Notification.objects.filter(person=ann, read_at=None).exists()


def test_choices_are_saved_on_a_phone(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, Role.RESEARCHER, name="olga"), narrow=True)
    page.goto("/notifications/settings/")
    expect(page.get_by_role("heading", name="Notification settings")).to_be_visible()
    assert_accessible(page)
    page.get_by_label("A crowd study is full").select_option("off")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_label("A crowd study is full")).to_have_value("off")
