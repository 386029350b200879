"""A reviewer decides on one candidate, or on many at once: accept, send back to its author, drop, or fix and accept."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import ledger
from annotation.actions.leases import leasing
from annotation.actions.submissions import submission
from annotation.actions.submissions.submission import Submission
from annotation.actions.workflow import authoring, task_slots
from annotation.actions.workflow.groups import advance, advance_many, refresh_rule
from annotation.actions.workflow.make_tasks import task_groups
from annotation.actions.workflow.transitions import move_candidates
from annotation.errors import AnnotationError, Conflict
from annotation.messages import of_finding
from annotation.models import (
    Edit,
    Ending,
    Guideline,
    Involvement,
    Lease,
    Review,
    Slot,
    SlotState,
    Stage,
    Task,
    TaskState,
)
from annotation.queries.assignments import tasks_left
from annotation.queries.eligibility import leakage_of, slots_in_scope
from annotation.queries.foil_cards import foils_of_other_runs
from annotation.queries.held import REVIEWED
from annotation.queries.work_rules import policy_in
from annotation.rules import editing, reviewing
from annotation.rules.watch_evidence import watch_evidence
from annotation.transactions import Refused, run_in_transaction, serialize_writes
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.access import require_consent, require_role, secret_seed
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.projects.sql.bulk_writes import insert_many
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


# Reviews of one call, and of one transaction: others wait for its locks.
MAX_REVIEWS, CHUNK = 1_000, 500
# A return is reserved for its author, and a fix is checked against other foils: one by one.
IN_BULK = (reviewing.ACCEPT, reviewing.DROP)


@dataclass
class ManyReviews:
    """Candidate -> its review; `refused`: ids of candidates that the person may not decide on now."""

    done: dict[int, int] = field(default_factory=dict)
    refused: list[int] = field(default_factory=list)


def review_many(
    person: User, project: Project, answers: Mapping[int, ReviewAnswer], *, now: datetime | None = None
) -> ManyReviews:
    """Accept or drop candidates (ids) that wait for a review, as if the person had claimed and submitted each.

    A candidate that the person may not review, that somebody else holds, or that is not needed any more is refused;
    the others are stored. AnnotationError for another decision, more than MAX_REVIEWS, an archived project, or more
    than the person's quota. AccessDenied without the role.
    """
    require_role(person, project, Role.REVIEWER)
    require_consent(person, project)
    reviews = {candidate: checked(answer) for candidate, answer in answers.items()}
    if any(review.decision not in IN_BULK for review in reviews.values()):
        raise AnnotationError(_("Many reviews at once can only accept or drop. Send others one by one."))
    if len(reviews) > MAX_REVIEWS:
        raise AnnotationError(_("Send at most %(most)d reviews at once.") % {"most": MAX_REVIEWS})
    left = tasks_left(person, project, Stage.REVIEW)
    if project.archived_at is not None or (left is not None and left < len(reviews)):
        raise AnnotationError(_("Your quota or the project does not allow as many reviews now."))
    moment, result = now or timezone.now(), ManyReviews()
    for start in range(0, len(reviews), CHUNK):
        chunk = dict(islice(reviews.items(), start, start + CHUNK))
        result.done |= run_in_transaction(lambda chunk=chunk: _review_chunk(person, project, chunk, moment))
    result.refused = [candidate for candidate in reviews if candidate not in result.done]
    return result


def _review_chunk(person: User, project: Project, reviews: Mapping[int, ReviewAnswer], now: datetime) -> dict[int, int]:
    serialize_writes(person)
    task_groups(project, limit=CHUNK)
    done: dict[int, int] = {}
    while slots := list(_first_of_groups(_free_slots(person, project, reviews.keys() - done.keys(), now))):
        done |= _store(person, project, slots, reviews, now)
    return done


def _free_slots(person: User, project: Project, candidates: set[int], now: datetime) -> list[Slot]:
    """Return the slots of the candidates that the person may take, with their groups and then them locked."""
    groups = CandidateGroup.objects.filter(pk__in=Candidate.objects.filter(pk__in=candidates).values("group"))
    list(groups.order_by("pk").select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    whose = {"person": person.pk, "project": project.pk, "now": now}
    slots: QuerySet[Slot] = slots_in_scope(leakage_of(project), Stage.REVIEW, **whose)
    slots = slots.filter(task__candidate__in=candidates, task__second=False)
    slots = slots.select_related("task__candidate__group__run__subtest", "task__candidate__group__caption")
    return list(slots.order_by("pk").select_for_update(of=("self",), no_key=True, skip_locked=True))


def _first_of_groups(slots: Sequence[Slot]) -> Iterator[Slot]:
    """Yield one slot per group: its decision can change what the group's other candidates need."""
    seen: set[int] = set()
    for slot in slots:
        if slot.task.candidate.group_id not in seen:
            seen.add(slot.task.candidate.group_id)
            yield slot


def _store(
    person: User, project: Project, slots: Sequence[Slot], reviews: Mapping[int, ReviewAnswer], now: datetime
) -> dict[int, int]:
    candidates = [slot.task.candidate for slot in slots]
    subtests = {candidate.group.run.subtest_id: candidate.group.run.subtest for candidate in candidates}
    for pk in sorted(subtests):
        subtests[pk].votes_wanted = refresh_rule(subtests[pk])
    for candidate, slot in zip(candidates, slots, strict=True):
        run = candidate.group.run
        run.project = slot.project = project
        run.subtest = subtests[run.subtest_id]
    leases = _ended_leases(person, project, slots, now)
    own = [reviews[candidate.pk] for candidate in candidates]
    alike: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate, review in zip(candidates, own, strict=True):
        alike[review.decision, ", ".join(review.reasons)].append(candidate)
    for (decision, reasons), decided in alike.items():
        move_candidates(decided, MOVES[decision], project, person, reasons)
    rows = [
        Review(
            slot=lease.slot,
            person=person,
            idempotency_key=lease.token,
            guideline_id=lease.guideline_id,
            watch=watch_evidence(None),
            created_at=now,
            candidate=candidate,
            decision=review.decision,
            reasons=review.reasons,
            comment=review.comment,
        )
        for lease, candidate, review in zip(leases, candidates, own, strict=True)
    ]
    insert_many(rows, now)
    ledger.book_many(rows, project, Stage.REVIEW)
    _record_many(person, project, slots, rows)
    advance_many([candidate.group for candidate in candidates], person, now)
    twice = [candidate for candidate in candidates if is_drawn_twice(candidate, project)]
    task_slots.store([task_slots.second_review_task(project, c, c.group.caption.video_id) for c in twice])
    return {row.candidate_id: row.pk for row in rows}


def _ended_leases(person: User, project: Project, slots: Sequence[Slot], now: datetime) -> list[Lease]:
    """Fill the free slots, and store the lease of each. Conflict if one is taken."""
    texts = Guideline.objects.filter(project=project, stage=Stage.REVIEW).order_by("version")
    guidelines = dict(texts.values_list("subtest", "pk"))
    leases = [leasing.new_lease(slot, person, now) for slot in slots]
    for lease, slot in zip(leases, slots, strict=True):
        subtest = slot.task.candidate.group.run.subtest_id
        lease.guideline_id = guidelines.get(subtest, guidelines.get(None))
        lease.ending, lease.ended_at = Ending.SUBMITTED, now
    insert_many(leases, now)
    free = Slot.objects.filter(pk__in=[slot.pk for slot in slots], state=SlotState.FREE)
    taken = {"state": SlotState.DONE, "person": person, "token": "", "leased_at": now, "heartbeat_at": now}
    if free.update(**taken) != len(slots):
        raise Conflict(_("Someone else has just taken one of these tasks. Send the reviews again."))
    tasks = Task.objects.filter(pk__in=[slot.task_id for slot in slots], state=TaskState.OPEN)
    tasks.update(state=TaskState.DONE)
    return leases


def _record_many(person: User, project: Project, slots: Sequence[Slot], rows: Sequence[Review]) -> None:
    """Store that the person is involved in the videos, and the audit rows of the tasks and the reviews."""
    involved = [
        Involvement(
            kind=Involvement.Kind.REVIEWED,
            project=project,
            person=person,
            video_id=slot.video_id,
            group_id=slot.task.candidate.group_id,
        )
        for slot in slots
    ]
    Involvement.objects.bulk_create(involved, batch_size=CHUNK, ignore_conflicts=True)
    leased = [
        audit.event(project, person, "lease", slot, from_state=SlotState.FREE, to_state=SlotState.LEASED)
        for slot in slots
    ]
    sent = [
        audit.event(project, person, "submit_review", row, to_state="counted", reason=row.decision, late=False)
        for row in rows
    ]
    audit.record_many([*leased, *sent])
