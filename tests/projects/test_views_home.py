"""The list of projects: one's own, with one's roles and what waits in them, in a bounded number of queries."""

import pytest
from django.urls import reverse

from annotation.models import Involvement, Slot, Task
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import AuditEvent, Membership, Project, Role
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
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


def test_open_work_is_shown_to_people_who_may_do_it(client):
    project = make_project()
    open_validation(project)
    for role, waiting in ((Role.VALIDATOR, [("validation", 1)]), (Role.ANNOTATOR, [])):
        client.force_login(make_member(project, role))
        (card,) = client.get("/").context["cards"]
        assert card.waiting == waiting


def test_a_person_without_a_project_sees_what_to_do(client):
    client.force_login(make_user())
    html = client.get("/").content.decode()
    assert "You are not in a project yet" in html
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
            # Session, person, projects, roles, free places, those open to the person, gold, may create a project.
            with django_assert_num_queries(8):
                client.get("/")


def test_the_number_is_the_persons_own_as_on_the_page_of_work(client):
    project = make_project()
    person = make_member(project, Role.VALIDATOR)
    for _ in range(3):
        open_validation(project)
    made = Slot.objects.filter(project=project).first()
    Involvement.objects.create(project=project, person=person, video=made.video, kind=Involvement.Kind.MADE)
    client.force_login(person)
    page = client.get("/")
    assert page.context["cards"][0].waiting == [("validation", 2)]
    assert "validation: 2 to do" in page.content.decode()
    (queue,) = client.get(reverse("annotation:work", args=[project.slug])).context["queues"]
    assert queue.available == 2


def test_long_queues_are_counted_to_an_end_and_say_so(client, monkeypatch):
    monkeypatch.setattr("annotation.queries.queues.COUNTED_TO", 4)
    project = make_project()
    for _ in range(2):
        open_validation(project)
    client.force_login(make_member(project, Role.VALIDATOR))
    assert "validation: 2+ to do" in client.get("/").content.decode()


class TestWhatRunsAndImportsBrought:
    """Nobody has opened *Work* or a queue yet."""

    def test_an_annotator_sees_it_at_once(self, client):
        project = make_project()
        make_candidate(make_group(make_run(make_subtest(project))))
        client.force_login(make_member(project, Role.ANNOTATOR))
        assert client.get("/").context["cards"][0].waiting == [("edit", 1)]

    def test_a_validator_sees_it_at_once(self, client):
        project = make_project()
        make_item(make_subtest(project))
        client.force_login(make_member(project, Role.VALIDATOR))
        assert client.get("/").context["cards"][0].waiting == [("validation", 1)]

    def test_so_does_the_projects_own_page(self, client):
        project = make_project()
        make_item(make_subtest(project))
        client.force_login(make_member(project, Role.VALIDATOR))
        (queue,) = client.get(reverse("dashboard:dashboard", args=[project.slug])).context["work"]
        assert queue.available == 1

    def test_a_look_of_the_researcher_leaves_the_thresholds_movable(self, client):
        project = make_project(edit_stage=False)
        group = make_group(make_run(make_subtest(project)))
        make_candidate(group, state=CandidateState.IN_REVIEW)
        client.force_login(make_member(project, Role.RESEARCHER))
        client.get("/")
        client.get(reverse("dashboard:dashboard", args=[project.slug]))
        group.refresh_from_db()
        assert not group.tasked
        assert not Task.objects.exists()

    def test_ten_projects_in_which_nothing_waits_cost_as_many_queries_as_one(self, client, django_assert_num_queries):
        person = make_user()
        client.force_login(person)
        for n in range(10):
            project = make_project()
            for role in (Role.ANNOTATOR, Role.VALIDATOR):
                Membership.objects.create(project=project, person=person, role=role)
            if n in (0, 9):
                # Session, person, projects, roles, free places, groups and items without tasks, gold, may create.
                with django_assert_num_queries(9):
                    client.get("/")


def test_a_researcher_makes_a_project_and_owns_it(client):
    person = make_member(make_project(), Role.RESEARCHER)
    client.force_login(person)
    response = client.post("/projects/new/", {"name": "Kitchen actions", "leakage_scope": "video"})
    project = Project.objects.get(slug="kitchen-actions")
    assert response["Location"] == reverse("dashboard:dashboard", args=[project.slug])
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


def test_annotators_cannot_create_projects(client):
    client.force_login(make_member(make_project(), Role.ANNOTATOR, Role.VALIDATOR))
    assert client.get("/projects/new/").status_code == 403
    assert client.post("/projects/new/", {"name": "X"}).status_code == 403
    assert Project.objects.count() == 1


def test_make_a_benchmark_leads_over_the_sign_in_to_the_form_of_a_new_project(client, db):
    owner = make_member(make_project(), "researcher")
    owner.set_password("a long pass phrase")
    owner.save()
    assert f'href="{reverse("projects:create")}"' in client.get("/").content.decode()
    page = client.get(reverse("projects:create"), follow=True)
    form = {"username": owner.username, "password": "a long pass phrase", "next": page.context["next"]}
    arrived = client.post(reverse("projects:sign_in"), form, follow=True)
    assert arrived.redirect_chain == [(reverse("projects:create"), 302)]
    assert "projects/create_project.html" in [template.name for template in arrived.templates]
