"""What the three undos share: whose it is, whether it is in time, and the slot back in the person's hands."""

from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from annotation.actions.leases.leasing import open_lease
from annotation.actions.workflow import task_slots
from annotation.claims import Claim, claim_of
from annotation.errors import AnnotationError
from annotation.models import Edit, Lease, ObjectAnswer, Review, Slot, SlotState, Standing, Task, TaskState, Vote
from corpus.rules.states import WITHDRAWN
from projects.access import require_role
from projects.models import User


def in_time(work: Edit | Review | Vote | ObjectAnswer, person: User, role: str, now: datetime) -> None:
    """AnnotationError unless the work counted and is younger than the project's undo_seconds."""
    if work.slot is None:
        raise AnnotationError(_("This was kept apart and changed nothing, so there is nothing to undo."))
    project = work.slot.project
    require_role(person, project, role)
    if now > work.created_at + timedelta(seconds=project.undo_seconds):
        raise AnnotationError(
            _("Only the last %(seconds)s seconds can be undone; ask the project's researcher.")
            % {"seconds": project.undo_seconds}
        )


def lease_again(
    slot: Slot, person: User, now: datetime, *, standing: Standing | None = None, first: bool | None = None
) -> Claim:
    """The filled slot is leased to the person again, under a new token; its task is open.

    Where a tally is kept, their time counts on from when they had the piece first. AnnotationError where nobody is
    asked for it any more: the task was called off, its item is gone.
    """
    task_slots.lock(slot.task_id)
    if _called_off(slot.task_id):
        raise AnnotationError(_("This was called off since, so there is nothing to take back any more."))
    Task.objects.filter(pk=slot.task_id, state=TaskState.DONE).update(state=TaskState.OPEN)
    since = None
    if standing is not None:
        leases = Lease.objects.filter(slot=slot, person=person).order_by("pk")
        since = leases.values_list("leased_at", flat=True).first()
    lease = open_lease(slot, person, now, was=SlotState.DONE, standing=standing, first=first, since=since)
    return claim_of(lease, slot)


def _called_off(task_id: int) -> bool:
    state, item = Task.objects.values_list("state", "item__state").get(pk=task_id)
    return state == TaskState.CANCELLED or item in WITHDRAWN


def running_lease(slot: Slot | None, person: User) -> Claim:
    """The running lease of work that was undone before: a double press of the key gives one undo."""
    held = Slot.objects.filter(pk=slot.pk if slot else None, person=person, state=SlotState.LEASED).first()
    if held is None:
        raise AnnotationError(_("This was undone before."))
    return claim_of(Lease.objects.get(token=held.token), held, resumed=True)
