"""One link per role for a whole team."""

import re

import pytest
from django.urls import reverse

from foilworks.core.projects.actions.invitations import make_team_invitations
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import AuditEvent, Invitation, Role
from tests.factories import make_item, make_member, make_subtest
from tests.pages import Page, read_page

pytestmark = pytest.mark.django_db


def send(client, project, **people):
    client.force_login(make_member(project, Role.RESEARCHER))
    url = reverse("projects:invite_team", args=[project.slug])
    return client.post(url, {"annotator": 0, "reviewer": 0, "validator": 0, **people}, follow=True)


def test_each_role_with_people_gets_one_link_for_so_many(client, project):
    page = send(client, project, annotator=2, validator=3)
    assert "2 links created" in page.content.decode()
    made = [(each.roles, each.most_uses) for each in Invitation.objects.order_by("pk")]
    assert made == [([Role.ANNOTATOR], 2), ([Role.VALIDATOR], 3)]
    assert AuditEvent.objects.filter(action="projects.make_invitation").count() == 2


def test_each_link_is_headed_by_its_role(client, project):
    body = send(client, project, annotator=2, validator=3).content.decode()
    assert re.search(r"<h3[^>]*>\s*Validator\s*</h3>", body)
    assert "0 of 3 people joined" in body


def test_an_empty_team_and_a_negative_number_are_errors_at_the_form(client, project):
    page = send(client, project)
    assert page.status_code == 422
    assert "Enter at least one person." in page.content.decode()
    assert send(client, project, annotator=-1).status_code == 422
    assert not Invitation.objects.exists()


def test_all_links_are_made_or_none(project):
    owner = make_member(project, Role.RESEARCHER)
    with pytest.raises(ProjectError):
        make_team_invitations(owner, project, {Role.ANNOTATOR: 1, Role.REVIEWER: -1})
    assert not Invitation.objects.exists()


def ticked(page: Page) -> list[str]:
    boxes = [box.attributes for box in page.all("input") if box.attributes.get("name") == "roles"]
    assert boxes
    return [box["value"] for box in boxes if "checked" in box]


@pytest.mark.parametrize(
    ("query", "people"),
    [("", [1, 1, 3]), ("?validator=2", [0, 0, 2]), ("?validator=many&annotator=1", [1, 0, 0]), ("?other=2", [1, 1, 3])],
)
def test_the_address_says_how_many_people_to_invite(client, project, query, people):
    client.force_login(make_member(project, Role.RESEARCHER))
    page = read_page(client.get(reverse("projects:invitations", args=[project.slug]) + query))
    assert [int(page.fields[name]) for name in ("annotator", "reviewer", "validator")] == people
    assert ticked(page) == []


def test_without_an_address_the_team_is_what_the_project_lacks(client, project):
    """Items with two foils need six validators and nobody who writes; no role is ticked at first."""
    owner = make_member(project, Role.RESEARCHER)
    make_item(make_subtest(project, votes_wanted=3), foils=("one.", "two."))
    client.force_login(owner)
    page = read_page(client.get(reverse("projects:invitations", args=[project.slug])))
    assert [int(page.fields[name]) for name in ("annotator", "reviewer", "validator")] == [0, 0, 6]
    assert ticked(read_page(client.get(reverse("annotation:people", args=[project.slug])))) == []


@pytest.mark.parametrize(("host", "is_local"), [("127.0.0.1:8611", True), ("localhost", True), ("testserver", False)])
def test_links_of_this_computer_are_said_to_work_only_here(client, project, host, is_local):
    send(client, project, annotator=1)
    page = client.get(reverse("projects:invitations", args=[project.slug]), headers={"host": host}).content.decode()
    assert ("These links work only on this computer." in page) is is_local


def test_an_invitation_says_what_each_role_does(client, project):
    send(client, project, validator=1)
    link = re.search(r"/join/[^/]+/", client.get(reverse("projects:invitations", args=[project.slug])).content.decode())
    client.logout()
    assert "you watch clips and choose which of two sentences is true" in client.get(link[0]).content.decode()
