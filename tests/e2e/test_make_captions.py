"""A researcher makes captions by the page: looks at the first, has them stored, by keyboard, wide and narrow."""

import pytest

from foilworks.core.corpus.models import Caption
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from generation.models import CaptionRun
from tests.e2e.conftest import IN_BOTH_WIDTHS, assert_accessible
from tests.factories import make_caption, make_member, make_video

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_captions_are_looked_at_and_then_stored(project, sign_in, narrow):
    make_caption(make_video(project), "a man folds a red shirt")
    owner = make_member(project, Role.RESEARCHER)
    page = sign_in(owner, narrow=narrow)
    page.goto(f"/projects/{project.slug}/captions/")
    assert_accessible(page)
    page.get_by_label("Caption maker").select_option("cos_caption")
    page.locator("[name=maker-template]").select_option("action")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/captions/*/")
    run_now(CaptionRun.objects.get().job)
    page.get_by_text("Someone folds the red shirt.").wait_for()
    assert_accessible(page)
    assert not Caption.objects.filter(text="Someone folds the red shirt.").exists()
    page.keyboard.press("Control+Enter")
    page.get_by_text("The captions are being generated.").wait_for()
    run_now(CaptionRun.objects.get().job)
    page.get_by_role("link", name="Generate foils").wait_for()
    assert Caption.objects.filter(text="Someone folds the red shirt.").count() == 1
    page.goto(f"/projects/{project.slug}/captions/")
    assert_accessible(page)
