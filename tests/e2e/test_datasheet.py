"""The datasheet in a real browser: an answer that somebody else changed meanwhile is replaced only when asked."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from foilworks.core.projects.models import Role
from foilworks.site.documents.actions.documents import answer_datasheet
from foilworks.site.documents.models import DatasheetAnswer
from tests.e2e.conftest import SignIn
from tests.factories import make_member, make_project

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


def test_an_answer_changed_meanwhile_is_replaced_when_asked(sign_in: SignIn):
    project = make_project(slug="shapes")
    owner, other = (make_member(project, Role.RESEARCHER) for _ in range(2))
    page = sign_in(owner)
    page.goto(reverse("publishing:datasheet", args=[project.slug]))
    field = page.locator("form [data-saved]").first.locator("xpath=ancestor::div[contains(@class,'field')]")
    question = field.get_attribute("id").removeprefix("q-")
    answer_datasheet(other, project, {question: "theirs"}, {})
    field.locator("textarea").fill("mine")
    field.locator("textarea").blur()
    expect(field.get_by_text("Your text is not saved.")).to_be_visible()
    assert DatasheetAnswer.objects.get(question=question).text == "theirs"
    field.get_by_role("button", name="Replace it with my text").click()
    expect(field.get_by_text("Saved", exact=True)).to_be_visible()
    assert DatasheetAnswer.objects.get(question=question).text == "mine"
