"""The page of the design system in a browser: accessible, as wide as its window, its dialogs by key."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from foilworks.core.projects.models import User
from tests.e2e.conftest import SignIn, assert_accessible

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(sign_in: SignIn):
    page = sign_in(User.objects.create_user("ann", password="correct horse battery"))
    page.goto(reverse("design"))
    return page


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_in_every_width(page, scheme):
    page.emulate_media(color_scheme=scheme)
    for width in (360, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page)


def test_dialog_and_drawer_open_and_close_by_key(page):
    for name, dialog in (("Open dialog", "#design-dialog"), ("Open drawer", "#design-drawer")):
        page.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
        expect(page.locator(dialog)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(dialog)).to_be_hidden()
        expect(page.get_by_role("button", name=name)).to_be_focused()


def test_a_chart_has_other_colors_in_the_dark(page):
    fill = "getComputedStyle(document.querySelector('.chart-drawing .fill-ink')).fill"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(fill)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(fill) != light
