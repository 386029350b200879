"""Undo an answer within the project's undo time."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import edit_for, object_answer_for, review_for, vote_for
from annotation.actions import ledger
from annotation.actions.leases.leasing import open_lease
from annotation.actions.quality import standings
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.groups import advance, locked_group, take_apart
from annotation.actions.workflow.transitions import move_candidates
from annotation.actions.workflow.verdicts import locked_item, revert_vote
from annotation.errors import AnnotationError
from annotation.models import (
    Edit,
    Involvement,
    Lease,
    ObjectAnswer,
    ObjectError,
    PayEntry,
    Review,
    Slot,
    SlotState,
    Stage,
    Standing,
    Task,
    TaskState,
    Vote,
    VoteState,
)
from annotation.models.stages import CHOICES
from annotation.queries.cards import Claim, claim_of
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import GIVEN_UP, Item, ReleaseItem
from foilworks.core.corpus.release_records import AS_PUBLISHED
from foilworks.core.corpus.rules.states import WITHDRAWN, CandidateState, ItemState
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Project, Role, User
from generation.models import Candidate


def in_time(work: Edit | Review | Vote | ObjectAnswer, person: User, role: str, now: datetime) -> None:
    """Raise AnnotationError unless the work counted and is younger than the project's undo_seconds."""
    if work.slot is None:
        raise AnnotationError(_("This answer did not count, so there is nothing to undo."))
    project = work.slot.project
    require_role(person, project, role)
    if now > work.created_at + timedelta(seconds=project.undo_seconds):
        raise AnnotationError(
            _("You can undo an answer only for %(seconds)s seconds. Ask the project's researcher.")
            % {"seconds": project.undo_seconds}
        )


def renew_lease(
    slot: Slot, person: User, now: datetime, *, standing: Standing | None = None, first: bool | None = None
) -> Claim:
    """Lease the filled slot to the person again, under a new token; its task is open.

    If their answers are counted, their time still starts when they first got the task. AnnotationError if the task is
    no longer needed: it was cancelled, or its item is gone.
    """
    task_slots.lock(slot.task_id)
    if _called_off(slot.task_id):
        raise AnnotationError(_("This task was cancelled, so there is nothing to undo."))
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
    """Return the running lease of work that is already undone: a key pressed twice gives one undo."""
    slot_row = Slot.objects.filter(pk=slot.pk if slot else None, person=person, state=SlotState.LEASED).first()
    if slot_row is None:
        raise AnnotationError(_("This was already undone."))
    return claim_of(Lease.objects.get(token=slot_row.token), slot_row, resumed=True)


def undo_edit(person: User, edit_id: int, *, now: datetime | None = None) -> Claim:
    """Mark the edit as undone and lease its group to the person again, with the texts as suggestions.

    AnnotationError after the project's undo_seconds, or as soon as a reviewer has taken one of its foils.
    """
    return run_in_transaction(lambda: _undo_edit(person, edit_id, now or timezone.now()))


def _undo_edit(person: User, edit_id: int, now: datetime) -> Claim:
    group = locked_group(edit_for(person, edit_id).group_id)
    edit = edit_for(person, edit_id)
    if edit.undone_at is not None:
        return running_lease(edit.slot, person)
    in_time(edit, person, Role.ANNOTATOR, now)
    candidates = list(edit.candidates.all())
    passed = [
        candidate for candidate in candidates if candidate.unreviewed and candidate.state == CandidateState.ACCEPTED
    ]
    in_review = [candidate for candidate in candidates if candidate not in passed]
    reviews = Task.objects.filter(candidate__in=candidates, stage=Stage.REVIEW, state=TaskState.OPEN)
    begun = reviews.filter(slots__state=SlotState.LEASED).exists()
    decided = any(candidate.state != CandidateState.IN_REVIEW for candidate in in_review)
    other_edit = Task.objects.filter(group=group, stage=Stage.EDIT, state=TaskState.OPEN)
    if begun or decided or other_edit.exists():
        raise AnnotationError(_("A reviewer has already started on this foil. Ask them to send it back."))
    task_slots.cancel(reviews, now)
    project = group.run.project
    if passed and group.item_id is not None:
        take_apart(group, project, person)
    move_candidates(passed, "undo_pass", project, person, "undone", unreviewed=False)
    move_candidates(in_review, "undo_submit", project, person, "undone")
    Edit.objects.filter(pk=edit.pk).update(undone_at=now)
    ledger.reverse_work(edit, Stage.EDIT, PayEntry.Reason.UNDONE, now)
    audit.record(audit.event(project, person, "undo_edit", edit, from_state="counted", to_state="undone"))
    claim = renew_lease(edit.slot, person, now)
    if passed:
        # Tasks that the assembled item had cancelled are opened again.
        advance(group, person, now)
    return claim


def undo_review(person: User, review_id: int, *, now: datetime | None = None) -> Claim:
    """Mark the review as undone and lease its candidate to this person again.

    An item that it completed is disassembled. AnnotationError after the project's undo_seconds, or once somebody has
    taken the task that followed: the returned foil, the item's validation.
    """
    return run_in_transaction(lambda: _undo_review(person, review_id, now or timezone.now()))


def _undo_review(person: User, review_id: int, now: datetime) -> Claim:
    group = locked_group(review_for(person, review_id).candidate.group_id)
    review = review_for(person, review_id)
    if review.undone_at is not None:
        return running_lease(review.slot, person)
    in_time(review, person, Role.REVIEWER, now)
    project = group.run.project
    # The caption may have been dropped while this waited for the group.
    group.caption.refresh_from_db(fields=["doubt_settled"])
    if group.caption.doubt_settled in GIVEN_UP:
        raise AnnotationError(_("The caption has been corrected, so there is nothing to undo."))
    if review.second:
        return _mark_undone(review, project, person, now)
    _require_nothing_followed(review)
    if group.item_id is not None:
        take_apart(group, project, person)
    if review.child_id is not None:
        move_candidates([Candidate.objects.get(pk=review.child_id)], "withdraw", project, person, "undone")
    move_candidates([Candidate.objects.get(pk=review.candidate_id)], "undo_review", project, person, "undone")
    claim = _mark_undone(review, project, person, now)
    advance(group, person, now)
    return claim


def _mark_undone(review: Review, project: Project, person: User, now: datetime) -> Claim:
    Review.objects.filter(pk=review.pk).update(undone_at=now)
    ledger.reverse_work(review, Stage.REVIEW, PayEntry.Reason.UNDONE, now)
    was = "compared" if review.second else "counted"
    audit.record(audit.event(project, person, "undo_review", review, from_state=was, to_state="undone"))
    return renew_lease(review.slot, person, now)


def _require_nothing_followed(review: Review) -> None:
    """Require that the candidate is in this review's state, and nobody holds the edit that it asked for."""
    expected = {
        "accept": CandidateState.ACCEPTED,
        "send_back": CandidateState.RETURNED,
        "drop": CandidateState.DROPPED,
        "fix": CandidateState.SUPERSEDED,
    }
    candidate = review.candidate
    group_edits = Task.objects.filter(group=candidate.group_id, stage=Stage.EDIT, state=TaskState.OPEN)
    reopened = candidate.children.exclude(pk=review.child_id).exists()
    if (
        candidate.state != expected[review.decision]
        or reopened
        or group_edits.filter(slots__state=SlotState.LEASED).exists()
    ):
        raise AnnotationError(
            _("Someone has already continued from this answer. Ask the project's researcher to correct it.")
        )


def undo_vote(person: User, vote_id: int, *, now: datetime | None = None) -> Claim:
    """Mark the vote as undone, so that it no longer counts, and lease its slot to the person again.

    An item that it decided returns to validation. AnnotationError after the project's undo_seconds, or if the item was
    released, adjudicated, requeued or retracted.
    """
    return run_in_transaction(lambda: _undo_vote(person, vote_id, now or timezone.now()))


def _undo_vote(person: User, vote_id: int, now: datetime) -> Claim:
    item_id = vote_for(person, vote_id).item_id
    serialize_writes(person)
    # Gold has no item, and nothing depends on it.
    item = locked_item(item_id) if item_id else None
    vote = vote_for(person, vote_id)
    standing = standings.locked(vote.standing_id)
    if vote.state == VoteState.UNDONE:
        return running_lease(vote.slot, person)
    in_time(vote, person, Role.VALIDATOR, now)
    standings.refuse_undo_while_paused(standing)
    if vote.state != VoteState.COUNTED or (item is not None and (item.state in WITHDRAWN or _is_final(item))):
        raise AnnotationError(_("The item has been decided. Ask the project's researcher to correct it."))
    if Vote.objects.filter(pk=vote.pk, state=VoteState.COUNTED).update(state=VoteState.UNDONE) != 1:
        raise AnnotationError(_("This was already undone."))
    ledger.reverse_work(vote, vote.stage, PayEntry.Reason.UNDONE, now)
    audit.record(
        audit.event(
            vote.slot.project, person, "undo_vote", vote, from_state=VoteState.COUNTED, to_state=VoteState.UNDONE
        )
    )
    first = vote.caption_first if item is None else None
    claim = renew_lease(vote.slot, person, now, standing=standing, first=first)
    if standing is not None:
        standings.subtract_vote(standing, vote)
    if item is not None:
        revert_vote(item, vote.slot.task, person, "a vote was undone", now)
    return claim


def _is_final(item: Item) -> bool:
    """Return whether a release contains the item by its votes, or a researcher has decided it since."""
    if item.state == ItemState.IN_VALIDATION:
        return False
    moves = AuditEvent.objects.filter(target_type=Item._meta.label_lower, target_id=str(item.pk))
    last = moves.order_by("-pk").values_list("action", flat=True).first()
    frozen = ReleaseItem.objects.filter(item=item).values_list("record", flat=True)
    return last == "adjudicate" or any(not record.get(AS_PUBLISHED) for record in frozen)


def undo_choice(person: User, vote_id: int, *, now: datetime | None = None) -> Claim:
    """Mark the choice as undone, so that it no longer counts, and lease its slot to the person again.

    AnnotationError after the project's undo_seconds.
    """
    return run_in_transaction(lambda: _undo_choice(person, vote_id, now or timezone.now()))


def _undo_choice(person: User, vote_id: int, now: datetime) -> Claim:
    vote = vote_for(person, vote_id)
    if vote.stage not in CHOICES:
        raise AnnotationError(_("This answer is not part of a study."))
    if vote.state == VoteState.UNDONE:
        return running_lease(vote.slot, person)
    in_time(vote, person, Role.ANNOTATOR, now)
    if Vote.objects.filter(pk=vote.pk, state=VoteState.COUNTED).update(state=VoteState.UNDONE) != 1:
        raise AnnotationError(_("This was already undone."))
    project = vote.slot.project
    ledger.reverse_work(vote, vote.stage, PayEntry.Reason.UNDONE, now)
    audit.record(
        audit.event(project, person, "undo_choice", vote, from_state=VoteState.COUNTED, to_state=VoteState.UNDONE)
    )
    _remove_involvement(vote)
    return renew_lease(vote.slot, person, now)


def _remove_involvement(vote: Vote) -> None:
    """Delete the involvement: studies exclude people who judged the video, and so would exclude this item."""
    video = vote.slot.video_id
    other_votes = Vote.objects.filter(person=vote.person_id, item__video=video).exclude(
        item=vote.item_id, stage=vote.stage
    )
    if not other_votes.exists():
        judged = Involvement.Kind.JUDGED
        Involvement.objects.filter(person=vote.person_id, video=video, kind=judged).delete()


def undo_objects(person: User, answer_id: int, *, now: datetime | None = None) -> Claim:
    """Mark the answer as undone, so that it no longer counts, and lease its slot to the person again.

    AnnotationError after the project's undo_seconds, or once a researcher has classified an object of the frame.
    """
    return run_in_transaction(lambda: _undo_objects(person, answer_id, now or timezone.now()))


def _undo_objects(person: User, answer_id: int, now: datetime) -> Claim:
    answer = object_answer_for(person, answer_id)
    if answer.undone_at is not None:
        return running_lease(answer.slot, person)
    in_time(answer, person, Role.ANNOTATOR, now)
    if ObjectError.objects.filter(frame=answer.frame_id).exists():
        raise AnnotationError(_("A researcher has already processed this frame. Ask them to correct it."))
    if ObjectAnswer.objects.filter(pk=answer.pk, undone_at=None).update(undone_at=now) != 1:
        raise AnnotationError(_("This was already undone."))
    ledger.reverse_work(answer, Stage.OBJECTS, PayEntry.Reason.UNDONE, now)
    audit.record(
        audit.event(answer.slot.project, person, "undo_objects", answer, from_state="counted", to_state="undone")
    )
    return renew_lease(answer.slot, person, now)
