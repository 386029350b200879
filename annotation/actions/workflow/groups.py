"""Move a candidate group towards its item: make the tasks it needs next, assemble the item from k accepted foils."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.actions.workflow import task_slots
from annotation.actions.workflow.assembly import assemble, assemble_many
from annotation.actions.workflow.authoring import VERSION
from annotation.models import Slot, SlotState, Stage, Task, TaskState
from annotation.rules.flow import GroupFacts, NextWork, next_work
from annotation.rules.ordering import FRESH, RETURNED
from foilworks.core.corpus.models import GIVEN_UP, Caption, Item, Subtest
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import User
from foilworks.core.projects.sql.prepared_queries import Prepared
from generation.models import PERSON_METHOD, Candidate, CandidateGroup, GenerationRun

# Returned work without a group; groups of a subtest share runs that record where they come from.
REOPENED = "reopened"
C = CandidateState


def _counts(group: int) -> QuerySet[Candidate, tuple[int, ...]]:
    """Return the counts named in _COUNTED; nothing if the group has no candidates."""
    return _grouped(Candidate.objects.filter(group=group)).values_list(*_COUNTED)


def _grouped(candidates: QuerySet[Candidate]) -> QuerySet[Any, Any]:
    """Return the counts of candidates by group."""

    def count(condition: Q) -> Count:
        return Count("pk", filter=condition)

    made_by_method = Q(parent=None) & ~Q(method=PERSON_METHOD) & ~Q(state__in=[C.GENERATED, C.FILTERED_OUT])
    return (
        candidates.order_by()
        .values("group")
        .annotate(
            accepted=count(Q(state=C.ACCEPTED, foil=None)),
            in_review=count(Q(state=C.IN_REVIEW)),
            claimable=count(Q(state__in=[C.QUEUED, C.RETURNED])),
            editing=count(Q(state=C.EDITING)),
            suggestions=count(made_by_method),
        )
    )


def _open_tasks(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """Return the group's open tasks; with `held`, also whether somebody holds each."""
    leased = Slot.objects.filter(task=OuterRef("pk"), state=SlotState.LEASED)
    return tasks.filter(state=TaskState.OPEN).annotate(held=Exists(leased))


_COUNTED = ("accepted", "in_review", "claimable", "editing", "suggestions")
_COUNTS = Prepared(_counts)
_OPEN_EDITS = Prepared(
    lambda group: _open_tasks(Task.objects.filter(group=group, stage=Stage.EDIT)).values_list("pk", "held")
)
_OPEN_REVIEWS = Prepared(
    lambda group: (
        _open_tasks(Task.objects.filter(candidate__group=group, stage=Stage.REVIEW, second=False))
        .order_by("candidate__rank", "candidate_id")
        .values_list("pk", "candidate", "held")
    )
)
_IN_REVIEW = Prepared(lambda group: Candidate.objects.filter(group=group, state=C.IN_REVIEW).order_by("rank", "pk"))


def locked_group(pk: int) -> CandidateGroup:
    """Return the group with run, subtest, project and caption; other writes on it wait until the transaction ends."""
    groups = CandidateGroup.objects.select_related("run__subtest", "run__project", "caption")
    return groups.select_for_update(of=("self",), no_key=True).get(pk=pk)


def reopened_group(subtest: Subtest, caption: Caption, person: User) -> CandidateGroup:
    """Return a new group in which people can write, for an imported item or a corrected caption."""
    runs = GenerationRun.objects.filter(subtest=subtest, method=PERSON_METHOD, mode=REOPENED)
    run = runs.exclude(groups__caption=caption).first() or GenerationRun.objects.create(
        project=subtest.project,
        subtest=subtest,
        method=PERSON_METHOD,
        method_version=VERSION,
        mode=REOPENED,
        created_by=person,
    )
    return CandidateGroup.objects.create(run=run, caption=caption, tasked=True)


def group_facts(group: CandidateGroup) -> GroupFacts:
    """Return the counts that decide what the group needs next, in one query."""
    return _facts_of(group, _COUNTS.first(group=group.pk))


def advance_many(groups: Sequence[CandidateGroup], actor: User | None, now: datetime) -> None:
    """Do as `advance` for locked groups of one project; those that become plain items in a few statements together."""
    rows = _grouped(Candidate.objects.filter(group__in=groups)).values_list("group", *_COUNTED)
    counts = {pk: numbers for pk, *numbers in rows}
    requeued = set(
        Item.objects.filter(foils__candidate__group__in=groups).values_list("foils__candidate__group", flat=True)
    )
    ready: dict[int, list[CandidateGroup]] = defaultdict(list)
    for group in groups:
        subtest = group.run.subtest
        is_plain = subtest.kind == Subtest.Kind.MAIN and subtest.proficiency_subtest_id is None
        is_open = group.item_id is None and group.caption.doubt_settled not in GIVEN_UP
        if (
            is_plain
            and is_open
            and group.pk not in requeued
            and next_work(_facts_of(group, counts.get(group.pk))).assemble
        ):
            ready[subtest.pk].append(group)
        else:
            advance(group, actor, now)
    for of_subtest in ready.values():
        assemble_many(of_subtest, actor, now)


def _facts_of(group: CandidateGroup, counts: Sequence[int] | None) -> GroupFacts:
    counts = counts or (0,) * len(_COUNTED)
    run = group.run
    return GroupFacts(
        wanted=run.subtest.foils_per_item,
        by_person=run.method == PERSON_METHOD,
        edit_stage=run.project.edit_stage,
        **dict(zip(_COUNTED, counts, strict=True)),
    )


def advance(
    group: CandidateGroup,
    actor: User | None,
    now: datetime,
    *,
    reserved_for: User | None = None,
    reserved_until: datetime | None = None,
) -> None:
    """Bring the group's open tasks in line with its candidates, or assemble its item. The group is locked.

    A free task that is no longer needed is cancelled; one that somebody holds stays. `reserved_for`: the author of a
    returned foil, for whom a new edit task is reserved.
    """
    if group.item_id is not None or group.caption.doubt_settled in GIVEN_UP:
        return
    needed = next_work(group_facts(group))
    if needed.assemble:
        assemble(group, actor, now)
        return
    _set_reviews(group, needed, now)
    open_edits = _OPEN_EDITS.all(group=group.pk)
    if needed.edit and not open_edits:
        band = RETURNED if reserved_for else FRESH
        task_slots.store([task_slots.edit_task(group.run.project, group)], band, reserved_for, reserved_until)
    elif not needed.edit:
        _cancel([task for task, is_leased in open_edits if not is_leased], now)


def _set_reviews(group: CandidateGroup, needed: NextWork, now: datetime) -> None:
    """Open as many review tasks as foils are missing, best-ranked first; those that people hold count and stay."""
    tasks = _OPEN_REVIEWS.all(group=group.pk)
    free_tasks = [task for task, _candidate, is_leased in tasks if not is_leased]
    room = max(0, needed.reviews - (len(tasks) - len(free_tasks)))
    _cancel(free_tasks[room:], now)
    missing = room - len(free_tasks)
    if missing <= 0:
        return
    candidates_with_task = {candidate for _task, candidate, _held in tasks}
    new = [candidate for candidate in _IN_REVIEW.all(group=group.pk) if candidate.pk not in candidates_with_task][
        :missing
    ]
    task_slots.store(
        [task_slots.review_task(group.run.project, candidate, group.caption.video_id) for candidate in new]
    )


def _cancel(tasks: Sequence[int], now: datetime) -> None:
    if tasks:
        task_slots.cancel(Task.objects.filter(pk__in=tasks), now)
