"""Places of a crowd study whose minutes are over: with all tasks done they complete by themselves, others wait."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.actions.crowd import complete_place, enter_study, free_late_places
from foilworks.core.projects.crowd_entry import Entry, code_of
from foilworks.core.projects.errors import EntryRefused
from foilworks.core.projects.models import AuditEvent, CrowdPlace, CrowdStudy, Membership
from tests.annotation.test_entry_attacks import arrive, open_study, signed, work
from tests.annotation.world import World
from tests.clocks import stand_still
from tests.invariants import broken_invariants

pytestmark = pytest.mark.django_db
MINUTES = 30


def study_of(crowd: World, **fields) -> CrowdStudy:
    return open_study(crowd.project, minutes=MINUTES, **fields)


def too_late() -> datetime:
    return timezone.now() + timedelta(minutes=MINUTES + 1)


def states() -> list[str]:
    return list(CrowdPlace.objects.order_by("pk").values_list("state", flat=True))


def test_a_place_with_all_tasks_done_completes_when_its_time_is_over(client, crowd, monkeypatch):
    study = study_of(crowd, pieces=2)
    arrive(study, signed(study), client)
    place, page = CrowdPlace.objects.get(), f"/projects/{crowd.project.slug}/place/"
    work(crowd, place.person, 2)
    assert "Your completion code" not in client.get(page).content.decode()
    stand_still(monkeypatch, too_late())
    assert code_of(place) in client.get(page).content.decode()
    event = AuditEvent.objects.get(action="end_place")
    assert (event.actor, event.from_state, event.to_state) == (None, "active", "completed")
    assert states() == ["completed"]
    assert not Membership.objects.filter(person=place.person).exists()
    assert broken_invariants() == []
    # Pressing the button of a page from before changes nothing.
    assert complete_place(place.person, crowd.project, place.pk).state == "completed"
    assert AuditEvent.objects.filter(action="end_place").count() == 1


def test_a_late_place_with_missing_tasks_waits_until_it_is_freed(client, crowd, monkeypatch):
    study = study_of(crowd, pieces=3)
    arrive(study, signed(study), client)
    work(crowd, CrowdPlace.objects.get().person, 2)
    stand_still(monkeypatch, too_late())
    assert "2 of 3 tasks" in client.get(f"/projects/{crowd.project.slug}/place/").content.decode()
    assert states() == ["active"]
    assert free_late_places(crowd.owner, crowd.project, study.pk) == 1
    assert states() == ["timed_out"]


def test_an_empty_queue_completes_no_late_place(crowd, monkeypatch):
    study = study_of(crowd, pieces=10)
    work(crowd, enter_study(study, Entry("w1")).person, 3)
    stand_still(monkeypatch, too_late())
    assert free_late_places(crowd.owner, crowd.project, study.pk) == 1
    assert states() == ["timed_out"]


def test_the_page_of_the_study_completes_late_places_and_leaves_the_others(client, crowd, monkeypatch):
    study = study_of(crowd, pieces=1)
    done, idle = enter_study(study, Entry("w1")), enter_study(study, Entry("w2"))
    work(crowd, done.person, 1)
    stand_still(monkeypatch, too_late())
    client.force_login(crowd.owner)
    page = client.get(f"/projects/{crowd.project.slug}/crowd/{study.pk}/").content.decode()
    assert (code_of(done) in page, code_of(idle) in page) == (True, False)
    assert states() == ["completed", "active"]
    assert free_late_places(crowd.owner, crowd.project, study.pk) == 1


def test_a_worker_back_by_a_new_link_reads_the_code(crowd, monkeypatch):
    study = study_of(crowd, pieces=1, places=1)
    place = enter_study(study, Entry("worker-1"))
    work(crowd, place.person, 1)
    stand_still(monkeypatch, too_late())
    # The place is not free for somebody else: its work is done.
    with pytest.raises(EntryRefused, match="full"):
        enter_study(study, Entry("w2"))
    back = Client()
    answer = arrive(study, signed(study), back)
    assert code_of(place) in back.get(answer.url).content.decode()
    assert states() == ["completed"]
    assert not Membership.objects.filter(person=place.person).exists()


def test_unsigned_ids_from_another_browser_open_no_completed_place(crowd, monkeypatch):
    study = study_of(crowd, pieces=1, platform="prolific", platform_study="5f")
    place = enter_study(study, Entry("w1", session="s1"))
    work(crowd, place.person, 1)
    stand_still(monkeypatch, too_late())
    with pytest.raises(EntryRefused, match="already used"):
        enter_study(study, Entry("w1", session="s1"))
    assert states() == ["active"]
