"""A place in a crowd study is completed, or returned."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import crowd_place_for, crowd_study_for
from annotation.actions.crowd.places import end_place, free_timed_out
from annotation.errors import AnnotationError
from annotation.queries.crowd import progress_of
from annotation.transactions import run_in_transaction
from projects.crowd_entry import refused
from projects.models import CrowdPlace, PlaceState, Project, User


def complete_place(
    person: User, project: Project, place_id: int | None = None, *, now: datetime | None = None
) -> CrowdPlace:
    """The work is done: only from here on the code is shown. EntryRefused before; twice gives the same place.

    Which of the person's places is meant: see `crowd_place_for`.
    """
    return run_in_transaction(lambda: _complete(person, project, place_id, now or timezone.now()))


def return_place(
    person: User, project: Project, place_id: int | None = None, *, now: datetime | None = None
) -> CrowdPlace:
    """The person gives their place up; somebody else may have it."""

    def write() -> CrowdPlace:
        place = crowd_place_for(person, project, place_id)
        end_place(place, PlaceState.RETURNED, person, now or timezone.now())
        return place

    return run_in_transaction(write)


def free_place(actor: User, project: Project, study_id: int, place_id: int, *, now: datetime | None = None) -> bool:
    """A researcher marks a place as returned on the platform; whether it was active still."""

    def write() -> bool:
        study = crowd_study_for(actor, project, study_id)
        place = study.taken.select_related("study__project", "person").filter(pk=place_id).first()
        if place is None:
            raise AnnotationError(_("This study has no such place."))
        return end_place(place, PlaceState.RETURNED, actor, now or timezone.now())

    return run_in_transaction(write)


def free_late_places(actor: User, project: Project, study_id: int, *, now: datetime | None = None) -> int:
    """A researcher frees the places whose time is over, without waiting for the next who arrives."""
    return run_in_transaction(lambda: free_timed_out(crowd_study_for(actor, project, study_id), now or timezone.now()))


def _complete(person: User, project: Project, place_id: int | None, now: datetime) -> CrowdPlace:
    place = crowd_place_for(person, project, place_id)
    if place.state == PlaceState.COMPLETED:
        return place
    if place.state != PlaceState.ACTIVE or not progress_of(place).is_complete:
        raise refused(place.study, "unfinished")
    end_place(place, PlaceState.COMPLETED, person, now)
    return place
