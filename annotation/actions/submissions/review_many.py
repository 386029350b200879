"""A reviewer decides on many candidates at once: the rules of single reviews, in the statements of a few."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import ledger
from annotation.actions.leases import leasing
from annotation.actions.submissions.submit_review import MOVES, ReviewAnswer, checked, is_drawn_twice
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.assembly import refresh_rule
from annotation.actions.workflow.groups import advance_many
from annotation.actions.workflow.make_tasks import task_groups
from annotation.actions.workflow.transitions import move_candidates
from annotation.errors import AnnotationError, Conflict
from annotation.models import Ending, Guideline, Involvement, Lease, Review, Slot, SlotState, Stage, Task, TaskState
from annotation.queries.assignments import tasks_left
from annotation.queries.eligibility import leakage_of, slots_in_scope
from annotation.rules import reviewing
from annotation.rules.watch_evidence import watch_evidence
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.projects.access import require_consent, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.projects.sql.bulk_writes import insert_many
from generation.models import Candidate, CandidateGroup

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
    _record(person, project, slots, rows)
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


def _record(person: User, project: Project, slots: Sequence[Slot], rows: Sequence[Review]) -> None:
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
