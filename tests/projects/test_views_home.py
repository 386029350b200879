"""The list of projects: one's own, with one's roles and what waits in them, in a bounded number of queries."""

import pytest
from django.urls import reverse

from projects.models import AuditEvent, Membership, Project, Role
from tests.factories import (
    make_caption,
    make_item,
    make_member,
    make_project,
    make_subtest,
    make_task,
    make_user,
    make_video,
)

pytestmark = pytest.mark.django_db


def open_validation(project: Project, overlap: int = 3) -> None:
    item = make_item(make_subtest(project), make_caption(make_video(project)))
    make_task(project, "validation", item.video, overlap, item=item, foil=item.foils.get())


def test_a_person_sees_their_own_projects_with_their_roles(client):
    mine, other = make_project(name="Mine"), make_project(name="Not mine")
    person = make_member(mine, Role.ANNOTATOR, Role.REVIEWER)
    client.force_login(person)
    cards = client.get("/").context["cards"]
    assert [(card.project, card.roles) for card in cards] == [(mine, ["annotator", "reviewer"])]
    assert other.name not in client.get("/").content.decode()


def test_open_work_is_told_to_those_who_may_do_it(client):
    project = make_project()
    open_validation(project)
    for role, waiting in ((Role.VALIDATOR, [("validation", 3)]), (Role.ANNOTATOR, [])):
        client.force_login(make_member(project, role))
        (card,) = client.get("/").context["cards"]
        assert card.waiting == waiting


def test_somebody_without_a_project_is_told_what_to_do(client):
    client.force_login(make_user())
    html = client.get("/").content.decode()
    assert "You are in no project yet" in html
    assert "New project" not in html


def test_a_site_administrator_sees_all_and_may_make_one(client):
    make_project(name="Shapes")
    client.force_login(make_user(is_superuser=True))
    html = client.get("/").content.decode()
    assert "Shapes" in html
    assert reverse("projects:create") in html


def test_ten_projects_cost_as_many_queries_as_one(client, django_assert_num_queries):
    person = make_user()
    for n in range(10):
        project = make_project()
        Membership.objects.create(project=project, person=person, role=Role.VALIDATOR)
        open_validation(project)
        if n in (0, 9):
            client.force_login(person)
            # Session, person, projects, roles, open places, may create a project.
            with django_assert_num_queries(6):
                client.get("/")


def test_a_researcher_makes_a_project_and_owns_it(client):
    person = make_member(make_project(), Role.RESEARCHER)
    client.force_login(person)
    response = client.post("/projects/new/", {"name": "Kitchen actions", "leakage_scope": "video"})
    project = Project.objects.get(slug="kitchen-actions")
    assert response["Location"] == reverse("evaluation:dashboard", args=[project.slug])
    assert list(project.memberships.values_list("person", "role")) == [(person.pk, "researcher")]
    event = AuditEvent.objects.get(project=project)
    assert (event.action, event.actor) == ("projects.create_project", person)


@pytest.mark.parametrize("slug", ["new", "New", "mine", "MINE"])
def test_a_short_name_that_is_taken_or_reserved_is_refused_beside_its_field(client, slug):
    make_project(slug="mine")
    client.force_login(make_user(is_superuser=True))
    response = client.post("/projects/new/", {"name": "Any", "slug": slug, "leakage_scope": "video"})
    assert response.status_code == 422
    assert response.context["form"].errors["slug"]
    assert Project.objects.count() == 1


def test_a_name_in_another_script_needs_a_short_name(client):
    client.force_login(make_user(is_superuser=True))
    response = client.post("/projects/new/", {"name": "映像", "leakage_scope": "video"})
    assert "slug" in response.context["form"].errors


def test_who_only_annotates_makes_no_projects(client):
    client.force_login(make_member(make_project(), Role.ANNOTATOR, Role.VALIDATOR))
    assert client.get("/projects/new/").status_code == 403
    assert client.post("/projects/new/", {"name": "X"}).status_code == 403
    assert Project.objects.count() == 1
