"""A person asks for the next piece of work of a stage and gets a lease on it."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import _leases
from annotation.actions._transaction import committed, one_write_at_a_time
from annotation.actions.make_tasks import make_tasks, task_groups
from annotation.claims import Claim, claim_of
from annotation.eligible import AS_STARTED, eligible_slots, fresh_places, skipped_by
from annotation.errors import AnnotationError, Conflict
from annotation.models import Lease, Slot, SlotState, Stage
from annotation.rules.ordering import FRESH
from projects.access import require_role
from projects.models import Project, Role, User

ROLE_OF_STAGE = {
    Stage.EDIT: Role.ANNOTATOR,
    Stage.REVIEW: Role.REVIEWER,
    Stage.VALIDATION: Role.VALIDATOR,
    Stage.BASELINE: Role.ANNOTATOR,
    Stage.OBJECTS: Role.ANNOTATOR,
}
# Candidates that wait bring work to these.
OF_CANDIDATES = frozenset({Stage.EDIT, Stage.REVIEW})
# How often others may be faster before the person is told to ask again.
TRIES = 5
# One claim makes tasks for at most so many groups, so that it stays quick behind a large run.
TASKED_A_CLAIM = 1_000


def claim(person: User, project: Project, stage: str, *, now: datetime | None = None) -> Claim | None:
    """The person's running lease of this stage, or a lease on the next slot that the rules let them have, or None.

    Started tasks come before fresh ones, tasks that the person skipped come last. AccessDenied without the stage's
    role, AnnotationError for a stage that nobody claims.
    """
    if stage not in ROLE_OF_STAGE:
        raise AnnotationError(_("There is no work to claim in the stage '%(stage)s'.") % {"stage": stage})
    require_role(person, project, ROLE_OF_STAGE[Stage(stage)])
    moment = now or timezone.now()
    for attempt in range(TRIES):
        found = committed(lambda patient=attempt > 0: _claim(person, project, stage, moment, patient=patient))
        if found is not None:
            return found
        make_tasks(project, limit=TASKED_A_CLAIM)
        if not eligible_slots(person, project, stage, moment).exists():
            return None
    raise AnnotationError(_("Many people are asking at once; ask again."))


def _claim(person: User, project: Project, stage: str, now: datetime, *, patient: bool) -> Claim | None:
    """One look at the queue. What others have locked is passed over, or `patient` waited for."""
    one_write_at_a_time(person)
    _leases.sweep(project.pk, now)
    if stage in OF_CANDIDATES:
        task_groups(project, limit=TASKED_A_CLAIM)
    running = _running(person, project, stage)
    if running is not None:
        return running
    slots = eligible_slots(person, project, stage, now).select_related("task", "project")
    slots = slots.select_for_update(skip_locked=not patient, of=("self",), no_key=True)
    skipped = skipped_by(person)
    return _take(slots.exclude(skipped), person, now, skipped=False) or _take(
        slots.filter(skipped), person, now, skipped=True
    )


def _running(person: User, project: Project, stage: str) -> Claim | None:
    held = Slot.objects.filter(person=person, state=SlotState.LEASED, stage=stage, project=project)
    slot = held.order_by("-leased_at").first()
    if slot is None:
        return None
    return claim_of(Lease.objects.get(token=slot.token), slot, resumed=True)


def _take(slots: QuerySet[Slot], person: User, now: datetime, *, skipped: bool) -> Claim | None:
    """Lease the first of the slots that is still to be had."""
    tried: list[int] = []
    for _attempt in range(TRIES):
        slot = slots.exclude(pk__in=tried).first()
        if slot is None:
            return None
        try:
            with transaction.atomic():
                lease = _leases.open_lease(slot, person, now)
        except (IntegrityError, Conflict):
            tried.append(slot.pk)
            continue
        _start(slot)
        return claim_of(lease, slot, skipped_before=skipped)
    return None


def _start(slot: Slot) -> None:
    """All places of a task that somebody has begun come before fresh tasks, this one too when it is freed again."""
    if slot.task.overlap > 1 and slot.priority >= FRESH:
        beside = fresh_places(slot).select_for_update(skip_locked=True, no_key=True)
        Slot.objects.filter(pk__in=[slot.pk, *beside.values_list("pk", flat=True)]).update(priority=AS_STARTED)
