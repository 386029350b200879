"""Somebody arrives from a crowd platform and takes a place in a study."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.actions.crowd.places import end_place, free_timed_out
from annotation.queries.crowd import places_left, under_the_bar
from annotation.transactions import run_in_transaction
from projects import audit
from projects.crowd_entry import Entry, refused
from projects.models import CrowdPlace, CrowdStudy, CrowdWorker, Membership, PlaceState, Platform, SpentEntry, User

LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
LIVE = (PlaceState.ACTIVE, PlaceState.COMPLETED)


def enter_study(study: CrowdStudy, entry: Entry, *, now: datetime | None = None) -> CrowdPlace:
    """The person's place: a new one, or the one that they have and come back to.

    EntryRefused: a link that was used, a visit of somebody else, a closed or full study, a rate under its bar, a
    person whom the researchers removed, or who is at work in another study of the stage.
    """
    moment = now or timezone.now()
    return run_in_transaction(lambda: _enter(study, entry, moment))


def _enter(study: CrowdStudy, entry: Entry, now: datetime) -> CrowdPlace:
    # Two who arrive at once for the last place queue up here.
    study = CrowdStudy.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=study.pk)
    known = CrowdWorker.objects.filter(project=study.project, platform=study.platform, worker=entry.worker)
    # Whoever removes them meanwhile waits, and finds what they have got here.
    worker = known.select_for_update(of=("self",), no_key=True).select_related("person").first()
    if worker is not None and worker.removed_at is not None:
        raise refused(study, "removed")
    free_timed_out(study, now)
    _spend(study, entry, now)
    if worker is not None and (place := _place_of(study, worker.person, entry)):
        return place
    if entry.session and CrowdPlace.objects.filter(study=study, session=entry.session).exists():
        raise refused(study, "replayed" if worker else "session")
    if not study.is_open:
        raise refused(study, "closed")
    if not places_left(study):
        raise refused(study, "full")
    if under_the_bar(study, entry.approval, worker.person if worker else None):
        raise refused(study, "approval")
    if worker is not None:
        _leave_others(study, worker.person, now)
    person = worker.person if worker else _new_worker(study, entry)
    Membership.objects.get_or_create(project=study.project, person=person, role=study.role)
    place = CrowdPlace.objects.create(
        study=study,
        person=person,
        session=entry.session,
        entered_at=now,
        deadline=now + timedelta(minutes=study.minutes),
    )
    audit.record(audit.event(study.project, person, "enter_study", place, to_state=PlaceState.ACTIVE, study=study.pk))
    return place


def _place_of(study: CrowdStudy, person: User, entry: Entry) -> CrowdPlace | None:
    """The place that the person has now, if this entry leads back to it; None where they have none."""
    place = CrowdPlace.objects.filter(study=study, person=person, state__in=LIVE).select_related("person").first()
    if place is None:
        return None
    if place.state == PlaceState.COMPLETED:
        raise refused(study, "replayed")
    if not Membership.objects.filter(project=study.project, person=person, role=study.role).exists():
        raise refused(study, "removed")
    # Prolific's parameters are signed by nobody: from another browser they prove nothing, and its own is led back
    # before it comes here. A signed link is new each time.
    if study.platform == Platform.PROLIFIC:
        raise refused(study, "elsewhere" if place.session == entry.session else "replayed")
    place.study = study
    audit.record(audit.event(study.project, person, "reenter_study", place, to_state=PlaceState.ACTIVE, study=study.pk))
    return place


def _leave_others(study: CrowdStudy, person: User, now: datetime) -> None:
    """Two places at once in studies of one stage would be paid twice for the same pieces."""
    places = CrowdPlace.objects.filter(person=person, study__project=study.project_id, state=PlaceState.ACTIVE)
    for place in places.filter(study__stage=study.stage).select_related("study__project", "person"):
        if place.deadline > now:
            raise refused(study, "at work")
        end_place(place, PlaceState.TIMED_OUT, None, now)


def _spend(study: CrowdStudy, entry: Entry, now: datetime) -> None:
    """A signed link works once. Where the entry is refused further on, the transaction takes this back with it."""
    if not entry.nonce:
        return
    # A link that is over needs no row to be refused.
    SpentEntry.objects.filter(study=study, expires_at__lte=now).delete()
    digest = hashlib.sha256(entry.nonce.encode()).hexdigest()
    _row, fresh = SpentEntry.objects.get_or_create(
        study=study, nonce_sha256=digest, defaults={"expires_at": entry.expires}
    )
    if not fresh:
        raise refused(study, "replayed")


def _new_worker(study: CrowdStudy, entry: Entry) -> User:
    """An account that nobody signs in to with a password; its name says nothing of the platform's id."""
    person = User(username="crowd-" + "".join(secrets.choice(LETTERS) for _ in range(10)))
    person.set_unusable_password()
    person.save()
    CrowdWorker.objects.create(project=study.project, platform=study.platform, worker=entry.worker, person=person)
    return person
