"""A candidate group's way to its item: what it needs next becomes tasks, and k accepted foils become the item."""

from datetime import datetime

from django.db.models import Count, Q

from annotation.actions import _tasks
from annotation.actions._assembly import assemble
from annotation.actions._foils import VERSION
from annotation.models import SlotState, Stage, Task, TaskState
from annotation.rules.flow import GroupFacts, NextWork, next_work
from annotation.rules.ordering import FRESH, RETURNED
from corpus.models import Caption, DoubtSettled, Subtest
from corpus.rules.states import CandidateState
from generation.models import Candidate, CandidateGroup, GenerationRun
from projects.models import User

PERSON_METHOD = "person"
# What comes back without a group to go back to; those of a subtest share runs that say where their groups come from.
REOPENED = "reopened"
C = CandidateState
# Captions that nothing more is made of.
GIVEN_UP = frozenset({DoubtSettled.CORRECTED, DoubtSettled.DROPPED})


def locked_group(pk: int) -> CandidateGroup:
    """The group with run, subtest, project and caption; other writes on it wait until the transaction ends."""
    groups = CandidateGroup.objects.select_related("run__subtest", "run__project", "caption")
    return groups.select_for_update(of=("self",), no_key=True).get(pk=pk)


def reopened_group(subtest: Subtest, caption: Caption, person: User) -> CandidateGroup:
    """A new group for the caption in which people may write: of an imported item, of a corrected caption."""
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
    """The counts that decide what the group needs next: one query."""

    def count(condition: Q) -> Count:
        return Count("pk", filter=condition)

    made_by_method = Q(parent=None) & ~Q(method=PERSON_METHOD) & ~Q(state__in=[C.GENERATED, C.FILTERED_OUT])
    counts = group.candidates.aggregate(
        accepted=count(Q(state=C.ACCEPTED, foil=None)),
        in_review=count(Q(state=C.IN_REVIEW)),
        claimable=count(Q(state__in=[C.QUEUED, C.RETURNED])),
        editing=count(Q(state=C.EDITING)),
        suggestions=count(made_by_method),
    )
    run = group.run
    return GroupFacts(
        wanted=run.subtest.foils_per_item,
        by_person=run.method == PERSON_METHOD,
        edit_stage=run.project.edit_stage,
        **counts,
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

    A free task that is needed no longer is cancelled; one that somebody holds stays. `reserved_for` is whom a new
    edit task waits for: the author of a returned piece.
    """
    if group.item_id is not None or group.caption.doubt_settled in GIVEN_UP:
        return
    needed = next_work(group_facts(group))
    if needed.assemble:
        assemble(group, actor, now)
        return
    _set_reviews(group, needed, now)
    open_edits = Task.objects.filter(group=group, stage=Stage.EDIT, state=TaskState.OPEN)
    if needed.edit and not open_edits.exists():
        band = RETURNED if reserved_for else FRESH
        _tasks.store([_tasks.edit_task(group.run.project, group)], band, reserved_for, reserved_until)
    elif not needed.edit:
        _tasks.cancel(open_edits.exclude(slots__state=SlotState.LEASED), now)


def _set_reviews(group: CandidateGroup, needed: NextWork, now: datetime) -> None:
    """As many open review tasks as foils are missing, the best ranked first; those in hand count and stay."""
    open_reviews = Task.objects.filter(
        candidate__group=group, stage=Stage.REVIEW, state=TaskState.OPEN, second=False
    )
    tasks = list(open_reviews.order_by("candidate__rank", "candidate_id").prefetch_related("slots"))
    held = [task for task in tasks if any(slot.state == SlotState.LEASED for slot in task.slots.all())]
    free = [task for task in tasks if task not in held]
    room = max(0, needed.reviews - len(held))
    _tasks.cancel(Task.objects.filter(pk__in=[task.pk for task in free[room:]]), now)
    missing = room - len(free)
    if missing <= 0:
        return
    waiting = Candidate.objects.filter(group=group, state=C.IN_REVIEW).exclude(
        pk__in=[task.candidate_id for task in tasks]
    )
    new = waiting.order_by("rank", "pk")[:missing]
    _tasks.store([_tasks.review_task(group.run.project, candidate, group.caption.video_id) for candidate in new])
