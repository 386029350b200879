"""Many at one door: no place, link, invitation or code is given twice."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.actions.crowd import enter_study
from foilworks.core.projects.actions.accounts import check_second_factor, renew_recovery_codes
from foilworks.core.projects.actions.invitations import accept_invitation, make_invitation
from foilworks.core.projects.crowd_entry import Entry
from foilworks.core.projects.errors import EntryRefused
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import CrowdPlace, CrowdWorker, Invitation, Membership, SecondFactor, User
from tests.annotation.test_entry_attacks import open_study
from tests.annotation.test_parallel import in_threads
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 12


def refused_or(work):
    """What `work` gives, or None where it was refused."""

    def run(argument):
        try:
            return work(argument)
        except EntryRefused:
            return None

    return run


def test_the_last_places_are_taken_once():
    study = open_study(make_project(), places=4)
    entries = [Entry(f"w{n}", nonce=f"n{n}", expires=soon()) for n in range(MANY)]
    found = in_threads(refused_or(lambda entry: enter_study(study, entry)), entries)
    assert sum(place is not None for place in found) == 4
    assert CrowdPlace.objects.count() == CrowdWorker.objects.count() == User.objects.count() == 4


def test_one_link_opened_many_times_at_once_is_one_place():
    study = open_study(make_project(), places=9)
    entries = [Entry("w", nonce="n", expires=soon())] * MANY
    found = in_threads(refused_or(lambda entry: enter_study(study, entry)), entries)
    assert sum(place is not None for place in found) == 1
    assert CrowdPlace.objects.count() == CrowdWorker.objects.count() == 1


def test_one_visit_of_prolific_opened_many_times_at_once_is_one_place():
    study = open_study(make_project(), platform="prolific", platform_study="5f", places=9)
    found = in_threads(refused_or(lambda entry: enter_study(study, entry)), [Entry("w", session="s")] * MANY)
    assert {place.pk for place in found if place} == {CrowdPlace.objects.get().pk}


def test_an_invitation_for_one_brings_one():
    project = make_project()
    invitation = make_invitation(make_member(project, "researcher"), project, ["annotator"])
    token, people = token_of(invitation), [make_user() for _ in range(MANY)]
    found = in_threads(refused_or(lambda person: accept_invitation(person, token)), people)
    assert sum(place is not None for place in found) == 1
    assert Invitation.objects.get().uses == 1
    assert Membership.objects.filter(person__in=people).count() == 1


def test_a_recovery_code_opens_once():
    ann = make_user()
    SecondFactor.objects.create(person=ann, secret="GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", confirmed_at=timezone.now())
    code = renew_recovery_codes(ann)[0]
    assert sum(in_threads(lambda _n: check_second_factor(ann, code), list(range(MANY)))) == 1


def soon():
    return timezone.now() + timedelta(hours=1)
