"""The introduction on the page of a person's queues: for whom, for how long, and how it is hidden."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.work_queues import EXAMPLE
from foilworks.core.projects.models import Membership, Project, Role
from tests.annotation.world import World, browser
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
MAX_WORDS = 60


def introduction(client: Client, project: Project) -> str:
    """The text of the card on the page of the queues; "" without one."""
    page = client.get(reverse("annotation:work", args=[project.slug])).content.decode()
    card = re.search(r'<section class="card introduction".*?</section>', page, re.DOTALL)
    return card.group() if card else ""


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VALIDATOR])
def test_a_new_member_reads_it_until_they_hide_it(role):
    project, other = make_project(), make_project()
    person = make_member(project, role)
    Membership.objects.create(project=other, person=person, role=role)
    client = browser(person)
    assert "<del>" in introduction(client, project)
    client.post(reverse("annotation:hide_introduction", args=[project.slug]))
    assert introduction(client, project) == ""
    assert introduction(client, other)


def test_the_first_answer_ends_it_in_every_browser(world: World):
    world.item()
    assert introduction(browser(world.vera), world.project)
    world.vote("vera")
    assert introduction(browser(world.vera), world.project) == ""


def test_it_is_short_and_takes_no_key():
    project = make_project()
    card = introduction(browser(make_member(project, Role.VALIDATOR)), project)
    words = re.sub(r"<[^>]+>", " ", card).split()
    assert len(words) <= MAX_WORDS
    assert set(EXAMPLE[0].split()) <= set(words)
    assert "data-hotkey" not in card
    assert "autofocus" not in card


def test_researchers_and_people_without_queues_see_none():
    project = make_project()
    assert introduction(browser(make_member(project, Role.RESEARCHER, Role.VALIDATOR)), project) == ""
    assert introduction(browser(make_member(project, Role.RESEARCHER)), project) == ""
