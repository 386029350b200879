"""Tokens are made and revoked by hand; the page of the API's document is read without a script."""

import pytest
from playwright.sync_api import expect

from foilworks.core.projects.models import ApiToken, Role
from tests.e2e.conftest import IN_BOTH_WIDTHS, SignIn, assert_accessible
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_a_token_is_made_told_once_and_revoked(sign_in: SignIn, narrow: bool) -> None:
    person = make_member(make_project(name="Dots"), Role.RESEARCHER, name="olga")
    page = sign_in(person, narrow=narrow)
    page.goto("/tokens/")
    expect(page.get_by_text("No tokens yet")).to_be_visible()
    assert_accessible(page)
    page.get_by_label("Name").fill("nightly export")
    page.get_by_label("Valid for (days)").fill("7")
    page.get_by_role("button", name="Create token").press("Enter")
    expect(page.get_by_role("heading", name="Token nightly export created")).to_be_visible()
    assert page.locator(".password").inner_text().startswith("fw_")
    assert_accessible(page)
    page.get_by_role("button", name="Revoke nightly export").press("Enter")
    expect(page.get_by_text("has been revoked")).to_be_visible()
    assert ApiToken.objects.get().revoked_at is not None
    page.goto("/api/docs/")
    page.locator("summary", has_text="/api/v1/projects/{slug}/items").first.press("Enter")
    expect(page.get_by_text("List the items, filtered as on their page.")).to_be_visible()
    assert_accessible(page)
