"""Forged crowd identities, and a completion code before the work is done.

The short list of what must never work; every way in that does not hold, with the audit row that it leaves, is tried in
tests/annotation/test_entry_attacks.py.
"""

import pytest
from django.test import Client

from foilworks.core.projects.crowd_entry import code_of
from foilworks.core.projects.models import CrowdPlace
from tests.annotation.test_entry_attacks import arrive, nobody_came, open_study, prolific, signed, work
from tests.annotation.world import World, make_world
from tests.attacks.guards import guarded_by, replaced
from tests.factories import make_project

pytestmark = pytest.mark.django_db

SIGNATURE = replaced(
    "foilworks.core.projects.crowd_entry.signature_of",
    "every parameter of an entry link is signed with the study's secret",
    lambda study, sent: sent.get("signature", ""),
)
EXPIRY = replaced(
    "foilworks.core.projects.crowd_entry.is_live",
    "a signed link expires, after at most seven days",
    lambda expires, now: True,
)
SPENT = replaced("annotation.actions.crowd._spend", "a signed link works once", lambda study, entry, now: None)
RETURN = replaced(
    "annotation.actions.crowd._place_of",
    "Prolific's unsigned ids open no place that was taken in another browser",
    lambda study, person, entry: CrowdPlace.objects.filter(study=study, person=person).first(),
)
DONE = replaced(
    "annotation.queries.crowd.Progress.is_complete",
    "a place is completed only when its tasks are done",
    property(lambda self: True),
)
SHOWN = replaced(
    "foilworks.core.projects.models.CrowdPlace.shows_code",
    "the completion code is shown only for a completed place",
    property(lambda self: True),
)


@pytest.fixture
def study():
    return open_study(make_project())


@pytest.fixture
def crowd(db) -> World:
    world = make_world()
    for _ in range(2):
        world.item()
    return world


@guarded_by(SIGNATURE)
@pytest.mark.parametrize("change", [{"worker": "somebody-else"}, {"approval": "0.99"}, {"signature": "0" * 64}])
def test_a_changed_link_lets_nobody_in(study, change):
    assert arrive(study, {**signed(study), **change}).status_code == 403
    assert nobody_came(study)


@guarded_by(SIGNATURE)
def test_a_link_of_another_study_lets_nobody_in(study):
    other = open_study(make_project())
    assert arrive(study, signed(other)).status_code == 403
    assert nobody_came(study)


@guarded_by(EXPIRY)
@pytest.mark.parametrize("ends", ["1", "99999999999"])
def test_a_link_that_is_over_or_holds_for_ever_lets_nobody_in(study, ends):
    assert arrive(study, signed(study, expires=ends)).status_code == 403
    assert nobody_came(study)


@guarded_by(SPENT)
def test_a_link_that_was_used_gives_nobody_the_place(study):
    link = signed(study)
    assert arrive(study, link).status_code == 302
    assert arrive(study, link, Client()).status_code == 403


@guarded_by(RETURN)
def test_ids_that_somebody_saw_on_prolific_give_nobody_the_place():
    study = open_study(make_project(), platform="prolific", platform_study="5f0000000000000000000001")
    assert arrive(study, prolific(study)).status_code == 302
    assert arrive(study, prolific(study), Client()).status_code == 403


@guarded_by(DONE)
def test_no_place_is_completed_before_its_work(client, crowd):
    study = open_study(crowd.project, pieces=2)
    arrive(study, signed(study), client)
    place = CrowdPlace.objects.get()
    work(crowd, place.person, 1)
    assert client.post(f"/projects/{crowd.project.slug}/place/", {"move": "complete"}).status_code == 403


@guarded_by(SHOWN)
def test_no_page_shows_the_code_before_the_place_is_completed(client, crowd):
    study = open_study(crowd.project, pieces=1)
    arrive(study, signed(study), client)
    place = CrowdPlace.objects.get()
    work(crowd, place.person, 1)
    assert code_of(place) not in client.get(f"/projects/{crowd.project.slug}/place/").content.decode()
