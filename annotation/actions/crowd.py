"""Crowd studies and their places: open, enter, complete, return, free."""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import crowd_place_for, crowd_study_for
from annotation.actions import ledger
from annotation.actions.claims.claim import ROLE_OF_STAGE, end_leases_of_roles
from annotation.errors import AnnotationError
from annotation.models import PayEntry
from annotation.queries.crowd import done_by, places_left, progress_of, under_the_bar
from annotation.queries.platform_lists import MIN_PROLIFIC_REASON
from annotation.transactions import run_in_transaction
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.crowd_entry import Entry, code_of, refused, return_parameters
from foilworks.core.projects.demo_accounts import NO_STUDIES, refuse_published
from foilworks.core.projects.errors import TooManyTries
from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import (
    CrowdPlace,
    CrowdStudy,
    CrowdWorker,
    Membership,
    PlaceState,
    Platform,
    Project,
    Role,
    SpentEntry,
    User,
)
from foilworks.core.text.quoting import shortened

LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
LIVE = (PlaceState.ACTIVE, PlaceState.COMPLETED)


def open_crowd_study(actor: User, project: Project, **fields: Any) -> CrowdStudy:
    """Create a study; `fields` are columns of CrowdStudy from the form, the role follows from the stage.

    AnnotationError: a field is wrong.
    """
    require_role(actor, project, Role.RESEARCHER)
    refuse_published(actor, NO_STUDIES)
    if not project.consent_version:
        raise AnnotationError(_("Publish a consent text first: people of a platform must know what they agree to."))
    stage = fields["stage"]
    if stage not in ROLE_OF_STAGE:
        raise AnnotationError(_("The stage '%(stage)s' has no tasks to claim.") % {"stage": shortened(stage)})
    if fields["platform"] == Platform.PROLIFIC and not fields.get("platform_study"):
        raise AnnotationError(_("Enter the Prolific study ID. Links from other studies are rejected."))
    study = CrowdStudy(project=project, role=ROLE_OF_STAGE[stage], created_by=actor, **fields)
    try:
        study.full_clean()
        with transaction.atomic():
            study.save(force_insert=True)
            audit.record(audit.event(project, actor, "open_crowd_study", study, to_state="open", stage=stage))
    except ValidationError as error:
        raise AnnotationError(next(iter(error.message_dict.values()))[0]) from error
    except IntegrityError as error:
        raise AnnotationError(_("A study with this name already exists. Choose another name.")) from error
    return study


@transaction.atomic
def set_study_open(actor: User, project: Project, study_id: int, is_open: bool) -> bool:
    """Open or close the study: if closed, nobody new can enter, but people in it continue. Return if it changed."""
    study = crowd_study_for(actor, project, study_id)
    changed = CrowdStudy.objects.filter(pk=study.pk, is_open=not is_open).update(is_open=is_open)
    if changed:
        words = ("closed", "open") if is_open else ("open", "closed")
        audit.record(audit.event(project, actor, "set_study_open", study, from_state=words[0], to_state=words[1]))
    return bool(changed)


def enter_study(study: CrowdStudy, entry: Entry, *, now: datetime | None = None) -> CrowdPlace:
    """Return the person's place: a new one, or the one that they come back to.

    EntryRefused: a used link, somebody else's visit, a closed or full study, a rate below its limit, a person whom the
    researchers removed, or who works in another study of the stage.
    """
    moment = now or timezone.now()
    return run_in_transaction(lambda: _enter(study, entry, moment))


def _enter(study: CrowdStudy, entry: Entry, now: datetime) -> CrowdPlace:
    # Two people who arrive at once for the last place wait for each other here.
    study = CrowdStudy.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=study.pk)
    workers = CrowdWorker.objects.filter(project=study.project, platform=study.platform, worker=entry.worker)
    # A removal at the same time waits, and then finds the new place.
    worker = workers.select_for_update(of=("self",), no_key=True).select_related("person").first()
    if worker is not None and worker.removed_at is not None:
        raise refused(study, "removed")
    free_timed_out(study, now)
    _spend(study, entry, now)
    if worker is not None and (crowd_place := _place_of(study, worker.person, entry)):
        return crowd_place
    ended = None if worker is None else _ended_place(study, worker.person, entry)
    if ended is None:
        _require_admission(study, worker, entry)
    # A return link is the researchers' word: it takes a place more if others have taken all.
    if not places_left(study) and not (ended and entry.nonce):
        raise refused(study, "full")
    if worker is not None:
        _leave_others(study, worker.person, now)
    person = worker.person if worker else _new_worker(study, entry)
    Membership.objects.get_or_create(project=study.project, person=person, role=study.role)
    if ended is not None:
        return _reopen(study, ended, now)
    crowd_place = CrowdPlace.objects.create(
        study=study,
        person=person,
        session=entry.session,
        entered_at=now,
        deadline=now + timedelta(minutes=study.minutes),
    )
    audit.record(
        audit.event(study.project, person, "enter_study", crowd_place, to_state=PlaceState.ACTIVE, study=study.pk)
    )
    return crowd_place


def _require_admission(study: CrowdStudy, worker: CrowdWorker | None, entry: Entry) -> None:
    """EntryRefused for a used session, a closed study or a rate below its limit."""
    if entry.session and CrowdPlace.objects.filter(study=study, session=entry.session).exists():
        raise refused(study, "replayed" if worker else "session")
    if not study.is_open or study.project.archived_at is not None or study.project.deleted_at is not None:
        raise refused(study, "closed")
    if under_the_bar(study, entry.approval, worker.person if worker else None):
        raise refused(study, "approval")


def _ended_place(study: CrowdStudy, person: User, entry: Entry) -> CrowdPlace | None:
    """Return the person's last place if it is of this visit and was released, returned or timed out.

    An earlier place stays ended: its time would cover the work of a later one.
    """
    last = CrowdPlace.objects.filter(study=study, person=person).select_related("person").order_by("-pk").first()
    is_ended = last is not None and last.state in (PlaceState.RETURNED, PlaceState.TIMED_OUT)
    return last if is_ended and entry.session and last.session == entry.session else None


def _reopen(study: CrowdStudy, crowd_place: CrowdPlace, now: datetime) -> CrowdPlace:
    """Give an ended place back to its person, with the time of a new one; its tasks still count."""
    was, crowd_place.state, crowd_place.study = crowd_place.state, PlaceState.ACTIVE, study
    crowd_place.ended_at, crowd_place.deadline = None, now + timedelta(minutes=study.minutes)
    crowd_place.save(update_fields=["state", "ended_at", "deadline"])
    audit.record(
        audit.event(
            study.project,
            crowd_place.person,
            "reenter_study",
            crowd_place,
            from_state=was,
            to_state=PlaceState.ACTIVE,
            study=study.pk,
        )
    )
    return crowd_place


def _place_of(study: CrowdStudy, person: User, entry: Entry) -> CrowdPlace | None:
    """Return the person's current place if this entry leads back to it, else None."""
    crowd_place = CrowdPlace.objects.filter(study=study, person=person, state__in=LIVE).select_related("person").first()
    if crowd_place is None:
        return None
    if crowd_place.state == PlaceState.COMPLETED:
        # A person whose place completed by itself, or who lost their browser, has not seen their code. Only a signed
        # link proves who they are.
        by_itself = crowd_place.ended_at is not None and crowd_place.ended_at >= crowd_place.deadline
        if entry.nonce and (by_itself or study.platform == Platform.PROLIFIC):
            crowd_place.study = study
            return crowd_place
        raise refused(study, "replayed")
    if not Membership.objects.filter(project=study.project, person=person, role=study.role).exists():
        raise refused(study, "removed")
    # Prolific's parameters are not signed: from another browser they prove nothing, and the person's own browser is
    # redirected before this. A signed link is new each time: the platform's, or the researchers' return link.
    if study.platform == Platform.PROLIFIC and not entry.nonce:
        raise refused(study, "elsewhere" if crowd_place.session == entry.session else "replayed")
    crowd_place.study = study
    audit.record(
        audit.event(study.project, person, "reenter_study", crowd_place, to_state=PlaceState.ACTIVE, study=study.pk)
    )
    return crowd_place


def _leave_others(study: CrowdStudy, person: User, now: datetime) -> None:
    """Return the person's other places of the stage: two at once would be paid twice for the same tasks."""
    active_places = CrowdPlace.objects.filter(person=person, study__project=study.project_id, state=PlaceState.ACTIVE)
    for crowd_place in active_places.filter(study__stage=study.stage).select_related("study__project", "person"):
        if crowd_place.deadline > now:
            raise refused(study, "at work")
        _end_late(crowd_place, done_by([crowd_place]).get(crowd_place.pk, 0), now)


def _spend(study: CrowdStudy, entry: Entry, now: datetime) -> None:
    """Mark a signed link as used: it works once. If the entry is refused later, the transaction undoes this."""
    if not entry.nonce:
        return
    # An expired link is refused without a row.
    SpentEntry.objects.filter(study=study, expires_at__lte=now).delete()
    digest = hashlib.sha256(entry.nonce.encode()).hexdigest()
    _row, fresh = SpentEntry.objects.get_or_create(
        study=study, nonce_sha256=digest, defaults={"expires_at": entry.expires}
    )
    if not fresh:
        raise refused(study, "replayed")


def _new_worker(study: CrowdStudy, entry: Entry) -> User:
    """Create an account without a password; its name contains nothing of the platform's id."""
    person = User(username="crowd-" + "".join(secrets.choice(LETTERS) for _ in range(10)))
    person.set_unusable_password()
    person.save()
    CrowdWorker.objects.create(project=study.project, platform=study.platform, worker=entry.worker, person=person)
    return person


def end_place(crowd_place: CrowdPlace, state: str, actor: User | None, now: datetime) -> bool:
    """Move an active place to `state` and end the membership; return False if the place had already ended.

    Completed work stays.
    """
    active = CrowdPlace.objects.filter(pk=crowd_place.pk, state=PlaceState.ACTIVE)
    if not active.update(state=state, ended_at=now):
        return False
    crowd_place.state, crowd_place.ended_at = state, now
    study, freed = crowd_place.study, 0
    other_places = CrowdPlace.objects.filter(
        person=crowd_place.person_id, study__project=study.project_id, study__role=study.role, state=PlaceState.ACTIVE
    )
    if not other_places.exists():
        Membership.objects.filter(project=study.project_id, person=crowd_place.person_id, role=study.role).delete()
        freed = end_leases_of_roles(study.project, crowd_place.person, {study.role}, actor or crowd_place.person, now)
    audit.record(
        audit.event(
            study.project, actor, "end_place", crowd_place, from_state=PlaceState.ACTIVE, to_state=state, leases=freed
        )
    )
    return True


def free_timed_out(study: CrowdStudy, now: datetime) -> int:
    """End places whose time is over: completed if all tasks are done, else timed out. Return how many timed out."""
    late = _late_places(study, now)
    return sum(_end_late(crowd_place, done, now) == PlaceState.TIMED_OUT for crowd_place, done in late)


def complete_late_places(study: CrowdStudy, *, now: datetime | None = None) -> int:
    """Complete the places whose time is over and whose tasks are all done; return how many. Other places stay."""
    moment = now or timezone.now()

    def write() -> int:
        finished = [(crowd_place, done) for crowd_place, done in _late_places(study, moment) if done >= study.pieces]
        return sum(_end_late(crowd_place, done, moment) == PlaceState.COMPLETED for crowd_place, done in finished)

    return run_in_transaction(write)


def _late_places(study: CrowdStudy, now: datetime) -> list[tuple[CrowdPlace, int]]:
    """Return active places whose time is over, with their completed tasks. Two queries, or one if none is late."""
    late = CrowdPlace.objects.filter(study=study, state=PlaceState.ACTIVE, deadline__lte=now)
    crowd_places = list(late.select_related("study__project", "person").order_by("pk"))
    done = done_by(crowd_places)
    return [(crowd_place, done.get(crowd_place.pk, 0)) for crowd_place in crowd_places]


def _end_late(crowd_place: CrowdPlace, done: int, now: datetime) -> str:
    """End a place whose time is over; return its state.

    That no task is left is not enough here: other people may have taken the rest after the person left.
    """
    state = PlaceState.COMPLETED if done >= crowd_place.study.pieces else PlaceState.TIMED_OUT
    return state if end_place(crowd_place, state, None, now) else crowd_place.state


def complete_place(
    person: User, project: Project, place_id: int | None = None, *, now: datetime | None = None
) -> CrowdPlace:
    """Mark the work as done: from now on, the code is shown.

    EntryRefused if it is not done; a second call returns the same place. See `crowd_place_for` for which place is
    meant.
    """
    return run_in_transaction(lambda: _complete(person, project, place_id, now or timezone.now()))


def return_place(
    person: User, project: Project, place_id: int | None = None, *, now: datetime | None = None
) -> CrowdPlace:
    """Return the person's place; somebody else can take it."""

    def write() -> CrowdPlace:
        crowd_place = crowd_place_for(person, project, place_id)
        end_place(crowd_place, PlaceState.RETURNED, person, now or timezone.now())
        return crowd_place

    return run_in_transaction(write)


def free_place(actor: User, project: Project, study_id: int, place_id: int, *, now: datetime | None = None) -> bool:
    """Mark a place as returned on the platform; return if it was still active."""

    def write() -> bool:
        study = crowd_study_for(actor, project, study_id)
        crowd_place = study.taken.select_related("study__project", "person").filter(pk=place_id).first()
        if crowd_place is None:
            raise AnnotationError(_("Place not found in this study."))
        return end_place(crowd_place, PlaceState.RETURNED, actor, now or timezone.now())

    return run_in_transaction(write)


def reject_place(actor: User, project: Project, study_id: int, place_id: int, reason: str) -> int:
    """Reject a completed submission: its pay is reversed, its answers stay. Return how many entries were reversed.

    AnnotationError without a reason, with one that the platform refuses, or for a place that is not completed.
    """
    study = crowd_study_for(actor, project, study_id)
    if not reason.strip():
        raise AnnotationError(_("Enter a reason. The platform shows it to the person."))
    if study.platform == Platform.PROLIFIC and len(reason.strip()) < MIN_PROLIFIC_REASON:
        text = _("Prolific takes reasons of at least %(min)d characters, and this one has %(n)d. Write more.")
        raise AnnotationError(text % {"min": MIN_PROLIFIC_REASON, "n": len(reason.strip())})

    def write() -> int:
        place = study.taken.filter(pk=place_id, state=PlaceState.COMPLETED, rejected_for="").first()
        if place is None:
            raise AnnotationError(_("Only a completed place can be rejected, and only once."))
        CrowdPlace.objects.filter(pk=place.pk).update(rejected_for=reason.strip()[:500])
        entries = PayEntry.objects.filter(project=project, person=place.person_id, stage=study.stage)
        work = entries.filter(created_at__gte=place.entered_at, created_at__lte=place.ended_at)
        audit.record(audit.event(project, actor, "reject_place", place, reason=reason.strip()[:500]))
        return ledger.reverse(work, PayEntry.Reason.REJECTED, timezone.now())

    return run_in_transaction(write)


@transaction.atomic
def return_link(actor: User, project: Project, study_id: int, place_id: int, *, now: datetime | None = None) -> str:
    """Return the query of a one-time link to the place for its person, who has lost their browser or their code."""
    study = crowd_study_for(actor, project, study_id)
    crowd_place = study.taken.select_related("study__project", "person").filter(pk=place_id).first()
    workers = CrowdWorker.objects.filter(project=project, platform=study.platform)
    worker = crowd_place and workers.filter(person=crowd_place.person_id).first()
    if crowd_place is None or worker is None:
        raise AnnotationError(_("Place not found in this study."))
    audit.record(audit.event(project, actor, "make_return_link", crowd_place, study=study.pk))
    return urlencode(return_parameters(crowd_place, worker.worker, now or timezone.now()))


def free_late_places(actor: User, project: Project, study_id: int, *, now: datetime | None = None) -> int:
    """Free the places whose time is over, without waiting for the next arrival."""
    return run_in_transaction(lambda: free_timed_out(crowd_study_for(actor, project, study_id), now or timezone.now()))


def _complete(person: User, project: Project, place_id: int | None, now: datetime) -> CrowdPlace:
    crowd_place = crowd_place_for(person, project, place_id)
    if crowd_place.state == PlaceState.COMPLETED:
        return crowd_place
    if crowd_place.state != PlaceState.ACTIVE or not progress_of(crowd_place).is_complete:
        raise refused(crowd_place.study, "unfinished")
    end_place(crowd_place, PlaceState.COMPLETED, person, now)
    return crowd_place


def check_completion_code(actor: User, project: Project, study_id: int, code: str) -> CrowdPlace:
    """Return the completed place with this code, or the last one if all have the same code.

    Compares every code, each in constant time. EntryRefused for an unknown code; TooManyTries after ten of these in an
    hour.
    """
    study = crowd_study_for(actor, project, study_id)
    if rate_limits.is_exceeded(rate_limits.COMPLETION_CODE, study.pk):
        raise TooManyTries(_("Too many wrong codes for this study. Try again in an hour."))
    entered_code, matching_place = code.strip().encode(), None
    for crowd_place in study.taken.filter(state=PlaceState.COMPLETED).select_related("study", "person").order_by("pk"):
        if hmac.compare_digest(code_of(crowd_place).encode(), entered_code):
            matching_place = crowd_place
    if matching_place is None:
        rate_limits.hit(rate_limits.COMPLETION_CODE, study.pk)
        raise refused(study, "code")
    with transaction.atomic():
        audit.record(audit.event(project, actor, "check_completion_code", matching_place))
    return matching_place
