"""What the overview says is left once something is released."""

import pytest
from django.urls import reverse

from evaluation.cached_results.models import CachedResult
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.export_formats.parts.datasheet_questions import QUESTIONS
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Role
from foilworks.site.dashboard import next_steps as module
from foilworks.site.dashboard import stored_count as kept
from foilworks.site.dashboard.next_steps import after_release
from foilworks.site.documents.models import DatasheetAnswer
from foilworks.site.publishing.models import PublicPage
from foilworks.site.publishing.sheet import KIND
from tests.addresses import named
from tests.factories import make_item, make_member, make_subtest
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(project):
    make_item(make_subtest(project), state=ItemState.VALID)
    return freeze_release(make_member(project, Role.RESEARCHER), project, name="v1")


def answer_everything(project) -> None:
    DatasheetAnswer.objects.bulk_create(
        DatasheetAnswer(project=project, question=slug, text="Yes.") for slug in QUESTIONS
    )


def test_an_unreleased_project_has_no_card(owner, project):
    assert after_release(project) is None
    assert "next steps" not in owner.get(reverse("dashboard:dashboard", args=[project.slug])).content.decode()


def test_it_counts_open_questions_like_the_datasheet_and_links_to_the_next_steps(owner, project, release):
    page = owner.get(reverse("dashboard:dashboard", args=[project.slug])).content.decode()
    n_open = owner.get(reverse("publishing:datasheet", args=[project.slug])).context["form"].n_open
    assert n_open > 1
    read_page(page).check(f"{n_open} questions unanswered", "Next steps for the release “v1”")
    for name, args in (("datasheet", []), ("release", [release.pk]), ("public_page", [release.pk])):
        assert reverse(named(name), args=[project.slug, *args]) in page


def test_finished_steps_leave_the_card_until_the_card_disappears(project, release):
    answer_everything(project)
    found = after_release(project)
    assert (found.n_open, found.has_page) == (0, False)
    PublicPage.objects.create(release=release, is_open=True)
    assert after_release(project) is None


def test_a_public_page_alone_does_not_finish_it(project, release):
    PublicPage.objects.create(release=release, is_open=True)
    assert after_release(project).has_page
    PublicPage.objects.update(is_open=False)
    assert not after_release(project).has_page


def test_the_overview_does_not_read_the_numbers_of_a_large_release(owner, project, release, monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)
    assert after_release(project).n_open is None
    owner.get(reverse("publishing:datasheet", args=[project.slug]))
    assert after_release(project).n_open


def test_the_overview_does_not_read_a_small_release_of_a_large_project(owner, project, release, monkeypatch):
    """Its sheet follows every vote and item of the project: looks computed it after each of them."""
    monkeypatch.setattr(kept, "SMALL", 0)
    sheets = CachedResult.objects.filter(project=project, kind=KIND)
    overview, datasheet = (reverse(named(name), args=[project.slug]) for name in ("dashboard", "datasheet"))
    assert owner.get(overview).status_code == 200
    assert after_release(project).n_open is None
    assert not sheets.exists()
    owner.get(datasheet)
    n_open, made = after_release(project).n_open, list(sheets.values_list("fingerprint", "data"))
    assert n_open
    make_item(make_subtest(project))
    assert owner.get(overview).status_code == 200
    assert (after_release(project).n_open, list(sheets.values_list("fingerprint", "data"))) == (n_open, made)
    owner.get(datasheet)
    assert list(sheets.values_list("fingerprint", "data")) != made
