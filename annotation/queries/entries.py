"""What the entry page of a crowd study shows before a person takes a place: pay, guidelines and free tasks."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q

from annotation.models import Guideline, Stage
from annotation.queries.crowd import places_left
from annotation.queries.eligibility import may_take_any
from annotation.queries.gold import skipped
from annotation.queries.paid_work import policy_of, rates_of
from annotation.queries.queues import free_places
from annotation.rules.pay import Unit
from foilworks.core.projects.crowd_entry import Entry
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, CrowdWorker, PlaceState, User

# A person who has done nothing yet: no rule excludes them.
NOBODY = User(pk=0)


@dataclass(frozen=True)
class Pay:
    """`amount` per task or hour; `total` of all tasks where it is paid per task."""

    amount: Decimal
    currency: str
    per_hour: bool
    total: Decimal | None


def pay_for(study: CrowdStudy) -> Pay | None:
    """Return what the project pays for the study's tasks; None if it states no rate. Two queries."""
    rate = rates_of(study.project).get(study.stage)
    if rate is None:
        return None
    per_hour = rate.unit == Unit.HOUR
    total = None if per_hour else (rate.amount * study.pieces).normalize()
    return Pay(rate.amount.normalize(), policy_of(study.project).currency, per_hour, total)


def guideline_for(study: CrowdStudy) -> Guideline | None:
    """Return the newest guidelines of the study's stage. One query."""
    own = Guideline.objects.filter(project=study.project_id, stage=study.stage, subtest=None)
    return own.order_by("-version").first()


def why_no_entry(study: CrowdStudy, entry: Entry, now: datetime) -> str:
    """Return why the person would get no place or no task now: "closed", "full" or "no work"; "" if they may enter.

    A person with a place in the study returns to it, even if no task is left.
    """
    known = CrowdWorker.objects.filter(project=study.project_id, platform=study.platform, worker=entry.worker)
    worker = known.select_related("person").first()
    person = worker.person if worker else NOBODY
    own_places = CrowdPlace.objects.filter(study=study, person=person)
    this_visit = Q(session=entry.session, session__gt="")
    if worker and own_places.filter(~Q(state=PlaceState.TIMED_OUT) | this_visit).exists():
        return ""
    if not study.is_open or study.project.archived_at is not None:
        return "closed"
    late = Q(state=PlaceState.ACTIVE, deadline__lte=now)
    if not places_left(study) and not CrowdPlace.objects.filter(late, study=study).exists():
        return "full"
    return "" if has_work(study, person, now) else "no work"


def has_work(study: CrowdStudy, person: User, now: datetime) -> bool:
    """Return whether a task of the study's stage is free for the person."""
    if may_take_any(person, study.project, study.stage, now):
        return True
    return study.stage == Stage.VALIDATION and skipped(person.pk, study.project_id).exists()


def waiting_for(study: CrowdStudy) -> int:
    """Return how many slots of the study's stage are free for anybody. One query."""
    return free_places([study.project]).get((study.project_id, study.stage), 0)
