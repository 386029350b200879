"""An annotator takes back the last submit while no reviewer has begun on it."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import edit_for
from annotation.actions.undo import undo
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.assembly import take_apart
from annotation.actions.workflow.groups import advance, locked_group
from annotation.actions.workflow.transitions import move_candidates
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.models import Edit, SlotState, Stage, Task, TaskState
from annotation.transactions import run_in_transaction
from corpus.rules.states import CandidateState
from projects import audit
from projects.models import Role, User

C = CandidateState


def undo_edit(person: User, edit_id: int, *, now: datetime | None = None) -> Claim:
    """The edit is marked undone and its group is in the person's hands again, texts as suggestions.

    AnnotationError after the project's undo_seconds, or once a reviewer has taken one of its foils.
    """
    return run_in_transaction(lambda: _undo_edit(person, edit_id, now or timezone.now()))


def _undo_edit(person: User, edit_id: int, now: datetime) -> Claim:
    group = locked_group(edit_for(person, edit_id).group_id)
    edit = edit_for(person, edit_id)
    if edit.undone_at is not None:
        return undo.running_lease(edit.slot, person)
    undo.in_time(edit, person, Role.ANNOTATOR, now)
    candidates = list(edit.candidates.all())
    passed = [candidate for candidate in candidates if candidate.unreviewed and candidate.state == C.ACCEPTED]
    in_review = [candidate for candidate in candidates if candidate not in passed]
    reviews = Task.objects.filter(candidate__in=candidates, stage=Stage.REVIEW, state=TaskState.OPEN)
    begun = reviews.filter(slots__state=SlotState.LEASED).exists()
    decided = any(candidate.state != C.IN_REVIEW for candidate in in_review)
    other_edit = Task.objects.filter(group=group, stage=Stage.EDIT, state=TaskState.OPEN)
    if begun or decided or other_edit.exists():
        raise AnnotationError(_("A reviewer has begun on it; ask them to send it back."))
    task_slots.cancel(reviews, now)
    project = group.run.project
    if passed and group.item_id is not None:
        take_apart(group, project, person)
    move_candidates(passed, "undo_pass", project, person, "undone", unreviewed=False)
    move_candidates(in_review, "undo_submit", project, person, "undone")
    Edit.objects.filter(pk=edit.pk).update(undone_at=now)
    audit.record(audit.event(project, person, "undo_edit", edit, from_state="counted", to_state="undone"))
    claim = undo.lease_again(edit.slot, person, now)
    if passed:
        # What the assembled item had called off is asked for again.
        advance(group, person, now)
    return claim
