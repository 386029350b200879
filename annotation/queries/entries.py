"""What the entry page of a crowd study shows before a person takes a place: pay, guidelines and free tasks."""

from datetime import datetime

from django.db.models import Q, QuerySet

from annotation.models import Guideline, Stage
from annotation.queries.crowd import places_left
from annotation.queries.eligibility import may_take_any
from annotation.queries.gold import skipped
from annotation.queries.paid_work import in_words, rate_for
from annotation.queries.queues import free_places
from foilworks.core.projects.crowd_entry import Entry
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, CrowdWorker, PlaceState, User

LIVE = (PlaceState.ACTIVE, PlaceState.COMPLETED)
# A person who has done nothing yet: no rule excludes them.
NOBODY = User(pk=0)


def pay_for(study: CrowdStudy, entry: Entry, now: datetime) -> str:
    """Return in words what the person gets for the study's tasks; "" if the project states no rate.

    A person who comes back keeps the rate of the time when they entered.
    """
    own_places = CrowdPlace.objects.filter(_this_visit(entry) | Q(state__in=LIVE), study=study)
    own_places = own_places.filter(person__crowd_workers__in=_workers(study, entry)).order_by("-pk")
    entered_at = own_places.values_list("entered_at", flat=True).first()
    rate = rate_for(study.project, NOBODY.pk, study.stage, entered_at or now)
    return in_words(rate, study.project.pay_policy.currency, study.pieces) if rate else ""


def guideline_for(study: CrowdStudy) -> Guideline | None:
    """Return the newest guidelines of the study's stage. One query."""
    own = Guideline.objects.filter(project=study.project_id, stage=study.stage, subtest=None)
    return own.order_by("-version").first()


def why_no_entry(study: CrowdStudy, entry: Entry, now: datetime) -> str:
    """Return why the person would get no place or no task now: "closed", "full" or "no work"; "" if they may enter.

    A person with a place in the study returns to it, even if no task is left.
    """
    worker = _workers(study, entry).select_related("person").first()
    person = worker.person if worker else NOBODY
    own_places = CrowdPlace.objects.filter(study=study, person=person)
    if worker and own_places.filter(~Q(state=PlaceState.TIMED_OUT) | _this_visit(entry)).exists():
        return ""
    if not study.is_open or study.project.archived_at is not None:
        return "closed"
    late = Q(state=PlaceState.ACTIVE, deadline__lte=now)
    if not places_left(study) and not CrowdPlace.objects.filter(late, study=study).exists():
        return "full"
    return "" if has_work(study, person, now) else "no work"


def _workers(study: CrowdStudy, entry: Entry) -> QuerySet[CrowdWorker]:
    return CrowdWorker.objects.filter(project=study.project_id, platform=study.platform, worker=entry.worker)


def _this_visit(entry: Entry) -> Q:
    return Q(session=entry.session, session__gt="")


def has_work(study: CrowdStudy, person: User, now: datetime) -> bool:
    """Return whether a task of the study's stage is free for the person."""
    if may_take_any(person, study.project, study.stage, now):
        return True
    return study.stage == Stage.VALIDATION and skipped(person.pk, study.project_id).exists()


def waiting_for(study: CrowdStudy) -> int:
    """Return how many slots of the study's stage are free for anybody. One query."""
    return free_places([study.project]).get((study.project_id, study.stage), 0)
