"""A reviewer decides on one candidate: accept, send back to its author, drop, or fix and accept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import ledger
from annotation.actions.leases import leasing
from annotation.actions.submissions import submission
from annotation.actions.submissions.submission import Submission
from annotation.actions.workflow import authoring, task_slots
from annotation.actions.workflow.groups import advance
from annotation.actions.workflow.transitions import move_candidates
from annotation.errors import AnnotationError
from annotation.messages import of_finding
from annotation.models import Edit, Involvement, Lease, Review, Stage, Task, TaskState
from annotation.queries.held import REVIEWED
from annotation.queries.other_foils import foils_of_other_runs
from annotation.queries.work_rules import policy_in
from annotation.rules import editing, reviewing
from annotation.transactions import Refused, run_in_transaction
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.projects.sql.fast_inserts import insert
from generation.models import Candidate, CandidateGroup

C = CandidateState
MOVES = {
    reviewing.ACCEPT: "accept",
    reviewing.SEND_BACK: "send_back",
    reviewing.DROP: "drop",
    reviewing.FIX: "supersede",
}


@dataclass(frozen=True)
class ReviewAnswer:
    decision: str
    reasons: Sequence[str] = ()
    comment: str = ""
    fixed_text: str = ""


def submit_review(
    person: User,
    token: str,
    key: str,
    review: ReviewAnswer,
    *,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
) -> Review:
    """Store the review, once for each `key`, and carry out its decision; the last acceptance assembles the item.

    AnnotationError for an unknown decision or reason, a return or drop without a reason, or a fix that is not a foil.
    Late work whose slot is taken is stored and decides nothing.
    """
    sent = Submission(person, token, key, now or timezone.now(), watch, seconds)
    return answer_review(sent, review).record


def answer_review(sent: Submission, review: ReviewAnswer) -> submission.StoredWork[Review]:
    """Store the review as `submit_review` does."""
    checked_review = checked(review)
    return run_in_transaction(lambda: _submit(sent, checked_review))


def checked(review: ReviewAnswer) -> ReviewAnswer:
    """Return the review with its reasons in order. AnnotationError as `submit_review` raises it."""
    decision, reasons, comment = review.decision, review.reasons, review.comment
    if decision not in reviewing.DECISIONS:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(reviewing.DECISIONS)})
    unknown = reviewing.unknown_reasons(reasons)
    if unknown:
        raise AnnotationError(
            _("Unknown reason '%(unknown)s'. Choose from: %(list)s.")
            % {"unknown": unknown[0][:40], "list": ", ".join(reviewing.REASONS)}
        )
    if decision in reviewing.NEED_REASONS and not reasons:
        raise AnnotationError(_("Choose at least one reason."))
    if len(comment) > reviewing.MAX_COMMENT or "\x00" in comment:
        raise AnnotationError(
            _("The comment is longer than %(most)s characters or contains an unprintable one. Correct it.")
            % {"most": reviewing.MAX_COMMENT}
        )
    return ReviewAnswer(decision, reviewing.in_table_order(reasons), comment.strip(), review.fixed_text.strip())


def _submit(sent: Submission, review_decision: ReviewAnswer) -> submission.StoredWork[Review] | Refused:
    lease = submission.held_lease(sent, Stage.REVIEW, Role.REVIEWER)
    candidate = lease.task.candidate
    candidate.group.run.project = lease.slot.project
    with audit.in_one_statement():
        review = _review(sent, lease, candidate, review_decision)
    return review if isinstance(review, Refused) else submission.StoredWork(review, lease)


def _review(sent: Submission, lease: Lease, candidate: Candidate, review_decision: ReviewAnswer) -> Review | Refused:
    group = candidate.group
    whose = {"person": sent.person.pk, "key": sent.key}
    unusual = lease.task.second or REVIEWED.first(candidate=candidate.pk, video=lease.slot.video_id, **whose)
    before = Review.objects.filter(person=sent.person, idempotency_key=sent.key).first() if unusual else None
    if before is not None:
        return before
    slot_to_fill = leasing.find_slot(lease, sent.now)
    if slot_to_fill.slot is None:
        leasing.close(lease, sent.now)
        submission.involve(sent, submission.slot_with_task(lease), Involvement.Kind.REVIEWED)
        return _record(sent, lease, slot_to_fill, candidate, group, review_decision)
    refused = submission.check_eligibility(slot_to_fill.slot, sent) if unusual else None
    if refused is not None:
        return refused
    return _decide(sent, lease, slot_to_fill, candidate, group, review_decision)


def _decide(
    sent: Submission,
    lease: Lease,
    slot_to_fill: leasing.SlotToFill,
    candidate: Candidate,
    group: CandidateGroup,
    review_decision: ReviewAnswer,
) -> Review:
    if lease.task.second:
        return _second_opinion(sent, lease, slot_to_fill, candidate, group, review_decision)
    fixing = review_decision.decision == reviewing.FIX
    if fixing:
        _check_fix(group, candidate, review_decision.fixed_text)
    leasing.fill(slot_to_fill.slot, lease, sent.now)
    task_slots.finish(slot_to_fill.slot.task)
    project = group.run.project
    move_candidates(
        [candidate], MOVES[review_decision.decision], project, sent.person, ", ".join(review_decision.reasons)
    )
    child = None
    if fixing:
        child = authoring.write_candidate(
            group, sent.person, review_decision.fixed_text, candidate, C.ACCEPTED, candidate.rank
        )
    review = _record(sent, lease, slot_to_fill, candidate, group, review_decision, child)
    kinds = [Involvement.Kind.REVIEWED, *([Involvement.Kind.MADE] if fixing else [])]
    submission.involve(sent, slot_to_fill.slot, *kinds)
    if review_decision.decision == reviewing.SEND_BACK:
        until = sent.now + timedelta(hours=project.returned_hours)
        advance(group, sent.person, sent.now, reserved_for=author_of(candidate), reserved_until=until)
    else:
        advance(group, sent.person, sent.now)
    _ask_for_a_second(candidate, group)
    return review


def _second_opinion(
    sent: Submission,
    lease: Lease,
    slot_to_fill: leasing.SlotToFill,
    candidate: Candidate,
    group: CandidateGroup,
    review_decision: ReviewAnswer,
) -> Review:
    """Store the decision beside the first one; nothing changes. A fix is stored as the comment."""
    leasing.fill(slot_to_fill.slot, lease, sent.now)
    task_slots.finish(slot_to_fill.slot.task)
    words = "\n".join(filter(None, (review_decision.comment, review_decision.fixed_text)))[: reviewing.MAX_COMMENT]
    review = _record(sent, lease, slot_to_fill, candidate, group, replace(review_decision, comment=words))
    submission.involve(sent, slot_to_fill.slot, Involvement.Kind.REVIEWED)
    return review


def is_drawn_twice(candidate: Candidate, project: Project) -> bool:
    """Return whether a second person reviews the candidate."""
    share = policy_in(project).second_share
    return reviewing.drawn_for_a_second(secret_seed("review-sampling", project.pk), candidate.pk, share)


def _ask_for_a_second(candidate: Candidate, group: CandidateGroup) -> None:
    project = group.run.project
    if not is_drawn_twice(candidate, project):
        return
    second_reviews = Task.objects.filter(candidate=candidate, second=True).exclude(state=TaskState.CANCELLED)
    if not second_reviews.exists():
        task_slots.store([task_slots.second_review_task(project, candidate, group.caption.video_id)])


def _check_fix(group: CandidateGroup, candidate: Candidate, text: str) -> None:
    rows = group.candidates.filter(foil=None).exclude(pk=candidate.pk).values_list("state", "text")
    other_foils = [*(text for state, text in rows if state in (C.IN_REVIEW, C.ACCEPTED)), *foils_of_other_runs(group)]
    for finding in editing.errors(editing.check_text(group.caption.text, text, other_foils)):
        raise AnnotationError(_("The fixed foil: %(problem)s.") % {"problem": of_finding(finding)})
    if text == candidate.text:
        raise AnnotationError(_("The foil is unchanged. Change it, or accept it as it is."))


def author_of(candidate: Candidate) -> User | None:
    """Return who gets a returned foil: its author, or the person who submitted a method's text."""
    if candidate.author_id:
        return candidate.author
    last = Edit.objects.filter(candidates=candidate, undone_at=None).select_related("person").order_by("-pk").first()
    return last.person if last else None


def _record(
    sent: Submission,
    lease: Lease,
    slot_to_fill: leasing.SlotToFill,
    candidate: Candidate,
    group: CandidateGroup,
    review_decision: ReviewAnswer,
    child: Candidate | None = None,
) -> Review:
    review = Review(
        candidate=candidate,
        decision=review_decision.decision,
        reasons=review_decision.reasons,
        comment=review_decision.comment,
        child=child,
        second=lease.task.second,
        **submission.common_fields(sent, lease, slot_to_fill),
    )
    insert(review)
    ledger.book(review, lease.slot.project, Stage.REVIEW)
    counted = ("compared" if review.second else "counted") if slot_to_fill.slot else "kept apart"
    audit.record(
        audit.event(
            group.run.project,
            sent.person,
            "submit_review",
            review,
            to_state=counted,
            reason=review_decision.decision,
            late=slot_to_fill.late,
        )
    )
    return review
