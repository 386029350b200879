"""Named views of lists: each person's own, in one project and of one list."""

import pytest
from django.urls import reverse

from foilworks.core.projects.actions.saved_views import MAX_QUERY, MAX_VIEWS_PER_LIST, save_view
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import AuditEvent, SavedView
from tests.annotation.world import World, make_world
from tests.factories import make_item, make_member
from tests.pages import read_page

pytestmark = pytest.mark.django_db
ITEMS = "items:items"
QUERY = "state=valid&column=votes&sort=key"


@pytest.fixture
def world() -> World:
    world = make_world()
    make_item(world.subtest)
    return world


def test_a_saved_view_is_a_link_of_its_list_alone_until_it_is_deleted(client, world):
    client.force_login(world.owner)
    slug = world.project.slug
    data = {"page": ITEMS, "name": "  valid   by name ", "query": QUERY}
    saved = client.post(reverse("projects:save_view", args=[slug]), data, follow=True)
    read_page(saved).check("View saved: valid by name.")
    assert saved.redirect_chain[0][0] == f"{reverse(ITEMS, args=[slug])}?{QUERY}"
    links = {element.name for element in read_page(client.get(reverse(ITEMS, args=[slug]))).all("a")}
    assert "valid by name" in links
    assert "valid by name" not in client.get(reverse("items:captions", args=[slug])).content.decode()
    # The same name replaces the view.
    client.post(reverse("projects:save_view", args=[slug]), {**data, "query": "state=invalid&"})
    view = SavedView.objects.get()
    assert view.query == "state=invalid"
    client.post(reverse("projects:delete_view", args=[slug, view.pk]))
    assert not SavedView.objects.exists()
    assert AuditEvent.objects.filter(action="projects.delete_view", actor=world.owner).count() == 1


def test_views_of_other_people_are_neither_shown_nor_deleted(client, world):
    view = save_view(world.owner, world.project.slug, ITEMS, "mine", QUERY)
    client.force_login(make_member(world.project, "researcher"))
    assert ">mine<" not in client.get(reverse(ITEMS, args=[world.project.slug])).content.decode()
    assert client.post(reverse("projects:delete_view", args=[world.project.slug, view.pk])).status_code == 404
    assert SavedView.objects.count() == 1


def test_names_and_numbers_of_views_are_limited_and_a_page_without_a_list_is_not_there(client, world):
    client.force_login(world.owner)
    url = reverse("projects:save_view", args=[world.project.slug])
    assert client.post(url, {"page": "projects:account", "name": "x"}).status_code == 404
    assert client.post(url, {"page": "//evil.example", "name": "x"}).status_code == 404
    for data in ({"name": " "}, {"name": "x" * 61}, {"name": "x", "query": "q=" + "y" * MAX_QUERY}):
        client.post(url, {"page": ITEMS, **data})
    assert not SavedView.objects.exists()
    for n in range(MAX_VIEWS_PER_LIST):
        save_view(world.owner, world.project.slug, ITEMS, f"view {n}", QUERY)
    with pytest.raises(ProjectError, match="the maximum"):
        save_view(world.owner, world.project.slug, ITEMS, "one more", QUERY)
    save_view(world.owner, world.project.slug, ITEMS, "view 3", "")
    assert SavedView.objects.count() == MAX_VIEWS_PER_LIST
