"""Multiple-choice items composed in a real browser: preview, create, and the items that the job stored."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.choices.actions.compose_choices import JOB
from foilworks.core.corpus.models import Item
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.full
def test_a_researcher_composes_items(sign_in: SignIn):
    project = make_project(slug="sets", name="Contrast sets")
    random, edits = make_subtest(project, name="random", foils_per_item=4), make_subtest(project, name="edits")
    target = make_subtest(project, name="verb-h", foils_per_item=4)
    for number in range(3):
        caption = make_caption(make_video(project), f"a man sings song {number}.")
        make_item(random, caption, tuple(f"a caption of clip {place}." for place in range(4)))
        if number:
            make_item(edits, caption, (f"a man eats song {number}.",))
    page = sign_in(make_member(project, Role.RESEARCHER))
    page.goto(reverse("choices:choices", args=["sets"]))
    page.get_by_label("Subtest of the new items").select_option("verb-h")
    page.get_by_label("Random captions").select_option("random")
    page.get_by_label("Hard foils").select_option("edits")
    page.get_by_role("button", name="Preview").click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text("2 new items")
    expect(preview).to_contain_text("1: no hard foil for this caption")
    assert_accessible_wide_and_narrow(page)
    page.get_by_role("button", name="Create items").click()
    expect(page.get_by_text("Composing items.")).to_be_visible()
    run_now(Job.objects.get(dotted=JOB))
    # The part that polls loads the page again when the job is over.
    expect(page.get_by_role("row", name="verb-h random edits 2")).to_be_visible()
    assert Item.objects.filter(subtest=target).count() == 2
