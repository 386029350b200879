"""The first view of a page over many items: the page at once, with progress, then its numbers."""

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.cached_results import first_views
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = make_project()
    make_item(make_subtest(project), state=ItemState.VALID)
    return project


@pytest.fixture
def client(project: Project) -> Client:
    client = Client()
    client.force_login(make_member(project, "researcher"))
    return client


PAGES = {
    "report": (
        lambda project: reverse("reports:report", args=[project.slug, "numbers"]),
        "The report is being computed",
    ),
    "freeze": (lambda project: reverse("releases:freeze", args=[project.slug]), "The valid items are being checked"),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_over_many_items_computes_in_its_second_request(page, project, client, monkeypatch):
    monkeypatch.setattr(first_views, "MANY_ITEMS", 1)
    address, says = PAGES[page][0](project), PAGES[page][1]
    first = client.get(address).content.decode()
    assert says in first
    assert 'hx-get="?now=1"' in first
    assert says not in client.get(f"{address}?now=1").content.decode()
    assert says not in client.get(address).content.decode()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_over_few_items_computes_at_once(page, project, client):
    assert PAGES[page][1] not in client.get(PAGES[page][0](project)).content.decode()
