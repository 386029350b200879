"""Copy buttons, with the browser's clipboard and without it."""

import pytest
from playwright.sync_api import expect

from foilworks.core.projects.actions.invitations import make_invitation
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)
TAKE_AWAY = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"


@pytest.mark.full
@pytest.mark.parametrize("has_clipboard", [True, False], ids=["clipboard", "plain http"])
def test_an_invitation_link_is_copied_with_one_press(sign_in: SignIn, has_clipboard: bool) -> None:
    project = make_project(slug="dots")
    owner = make_member(project, "researcher")
    make_invitation(owner, project, ["annotator"], note="spring")
    page = sign_in(owner, permissions=["clipboard-read", "clipboard-write"])
    if not has_clipboard:
        page.add_init_script(TAKE_AWAY)
    page.goto("/projects/dots/invitations/")
    page.get_by_role("button", name="Copy spring").click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    page.get_by_label("Note").focus()
    page.keyboard.press("ControlOrMeta+v")
    expect(page.get_by_label("Note")).to_have_value(page.locator(".link").inner_text())
    if has_clipboard:
        assert_accessible_wide_and_narrow(page)
