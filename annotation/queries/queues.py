"""What a person reads about a queue: open tasks, done tasks, and why there are none."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from annotation.messages import EMPTY
from annotation.models import (
    Assignment,
    Edit,
    ObjectAnswer,
    QualityPolicy,
    Review,
    Slot,
    SlotState,
    Stage,
    Vote,
    VoteState,
)
from annotation.models.stages import stages_shown_as
from annotation.queries.assignments import quotas_left, tasks_left, within_quota
from annotation.queries.eligibility import JUDGING, Leakage, bars, leakage_of, places_ahead
from annotation.queries.gold import with_gold
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.prepared_queries import Prepared

# Slots that a look at a queue counts at most.
COUNTED_TO = 1_000


def work_counts(person: User, project: Project, stage: str, now: datetime) -> tuple[int, int]:
    """Return the person's completed tasks in this stage: (since local midnight, in all)."""
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return _work_counts(stage).first(person=person.pk, project=project.pk, midnight=midnight) or (0, 0)


@cache
def _work_counts(stage: str) -> Prepared[tuple[int, int]]:
    """Return the counts; no row if the person has done nothing."""
    return Prepared(
        lambda person, project, midnight: (
            _work_of(stage, person, project)
            .order_by()
            .values("person")
            .annotate(today=Count("pk", filter=Q(created_at__gte=midnight)), in_all=Count("pk"))
            .values_list("today", "in_all")
        )
    )


def _work_of(stage: str, person: int, project: int) -> QuerySet:
    if stage == Stage.EDIT:
        return Edit.objects.filter(person=person, undone_at=None, group__run__project=project)
    if stage == Stage.REVIEW:
        return Review.objects.filter(person=person, undone_at=None, candidate__group__run__project=project)
    if stage == Stage.OBJECTS:
        return ObjectAnswer.objects.filter(person=person, undone_at=None, frame__check_of__project=project)
    here = Q(stage=stage, item__subtest__project=project)
    if Stage.GOLD in stages_shown_as(stage):
        here |= Q(gold__project=project)
    return Vote.objects.filter(here, person=person).exclude(state=VoteState.UNDONE)


@dataclass(frozen=True)
class EmptyReason:
    """`code`: a key of annotation.messages.EMPTY; `count`: how many slots it keeps from the person."""

    code: str
    count: int


def why_empty(person: User, project: Project, stage: str, *, now: datetime | None = None) -> list[EmptyReason]:
    """Return why a stage has nothing for this person: a slot counts under the first reason that applies.

    One query, whose cost grows with the unfinished work; a second one if all is done. An empty list means that there is
    a task to claim.
    """
    if project.archived_at is not None:
        return [EmptyReason("archived", 0)]
    counts = dict(_counted_by_reason(leakage_of(project), stage, person.pk, project.pk, now or timezone.now()))
    if "claimable" in counts:
        return []
    if found := [EmptyReason(code, counts[code]) for code in EMPTY if code in counts]:
        return found
    done = Slot.objects.filter(project=project, stage=stage, state=SlotState.DONE).count()
    return [EmptyReason("all_done" if done else "nothing_yet", done)]


def _counted_by_reason(leakage: Leakage, stage: str, person: int, project: int, now: datetime) -> QuerySet:
    """Return (reason, slots that it keeps from the person), of unfinished tasks."""
    barred = bars(person, leakage, stage, now)
    mine, leased = Q(person=person), Q(state=SlotState.LEASED)
    why = Case(
        When(leased & ~mine, then=Value("leased")),
        When(barred.media & ~leased, then=Value("media_missing")),
        When(barred.declined & ~leased, then=Value("declined")),
        When(barred.yours & ~leased, then=Value("yours")),
        When(barred.sentence & ~leased, then=Value("same_sentence")),
        When(barred.made & ~leased, then=Value("made_it")),
        When((barred.reviewed | barred.judged) & ~leased, then=Value("reviewed_it")),
        # A validator is not told that votes are reserved because the pair divides people.
        When(barred.reserved & ~leased, then=Value("leased" if stage in JUDGING else "reserved")),
        default=Value("claimable"),
    )
    waiting = Slot.objects.filter(project=project, stage=stage, state__in=[SlotState.FREE, SlotState.LEASED])
    return waiting.annotate(why=why).order_by().values_list("why").annotate(n=Count("pk"))


class AtLeast(int):
    """A count that ended early: shown as "334+"."""

    def __str__(self) -> str:
        return f"{int(self)}+"


def open_work(person: User, project: Project, stage: str, *, now: datetime | None = None) -> int:
    """Return how many tasks of a stage this person can claim now, of the next `COUNTED_TO` slots.

    The limit makes a look at any queue cost the same. Gold counts as judgements. None in an archived project, and no
    more than a quota asks for.
    """
    if project.archived_at is not None:
        return 0
    n, left = _open_slots(person, project, stage, now), tasks_left(person, project, stage)
    return n if left is None else within_quota(n, left, person, project.pk, stage)


def _open_slots(person: User, project: Project, stage: str, now: datetime | None) -> int:
    ahead = places_ahead(person, project, stage, now or timezone.now(), COUNTED_TO)
    pieces = len({judged if stage in JUDGING else task for task, judged in ahead})
    if stage != Stage.VALIDATION:
        return AtLeast(pieces) if len(ahead) == COUNTED_TO else pieces
    # Rounded: an exact number would not change when gold is assigned.
    return AtLeast(_rounded(pieces)) if len(ahead) == COUNTED_TO else with_gold(person, project, pieces)


def held_besides(person: User, project: Project, stage: str, slot: int) -> int:
    """Return how many more tasks of a stage the person holds: after an undo, they hold the next one as well."""
    held = Slot.objects.filter(project=project, stage__in=stages_shown_as(stage), person=person)
    return held.filter(state=SlotState.LEASED).exclude(pk=slot).values("task").distinct().count()


def _rounded(number: int) -> int:
    """Round down to hundreds, or to tens below a hundred."""
    return number // 100 * 100 or number // 10 * 10 or number


def free_places(projects: Collection[Project]) -> dict[tuple[int, str], int]:
    """Return (project, stage) -> its free slots, for anybody. One query."""
    free = Slot.objects.filter(project__in=projects, state=SlotState.FREE)
    return {(project, stage): n for project, stage, n in _counted(free, Count("pk"))}


def open_work_in(
    person: User, stages: Mapping[Project, Collection[str]], places: Mapping[tuple[int, str], int], now: datetime
) -> dict[tuple[int, str], int]:
    """Return (project, stage) -> `open_work`, if not 0; `places` are the free slots.

    Two queries for all projects together, and some for each queue of more than `COUNTED_TO` slots or with a quota.
    """
    found: dict[tuple[int, str], int] = {}
    alike: dict[tuple[Leakage, str], list[int]] = defaultdict(list)
    for project, theirs in stages.items():
        for stage in theirs:
            n = places.get((project.pk, stage), 0)
            if n > COUNTED_TO:
                found[project.pk, stage] = open_work(person, project, stage, now=now)
            elif n:
                alike[leakage_of(project), stage].append(project.pk)
    allowed = Q()
    for (leakage, stage), projects in alike.items():
        allowed |= Q(stage=stage, project__in=projects) & ~bars(person.pk, leakage, stage, now).any()
    if alike:
        free = Slot.objects.filter(allowed, state=SlotState.FREE)
        judged = Case(When(project__judge_caption_once=True, then=F("item__caption")), default=F("item"))
        mine = _counted(free, Count(judged, distinct=True), Count("task", distinct=True))
        found |= {(project, stage): items if stage in JUDGING else tasks for project, stage, items, tasks in mine}
    with_policy, with_quota = _with_gold_or_quota(person, stages)
    for project in with_policy:
        n = found.get((project.pk, Stage.VALIDATION), 0)
        if n and not isinstance(n, AtLeast):
            found[project.pk, Stage.VALIDATION] = with_gold(person, project, n)
    for (pk, stage, _person), left in quotas_left(with_quota, person).items() if with_quota else ():
        if found.get((pk, stage)):
            found[pk, stage] = within_quota(found[pk, stage], left, person, pk, stage)
    return {key: n for key, n in found.items() if n}


def _with_gold_or_quota(person: User, projects: Collection[Project]) -> tuple[list[Project], list[Project]]:
    """Return the projects that mix gold in, and those in which the person has a quota. One query."""
    gold = QualityPolicy.objects.filter(project=OuterRef("pk"), gold_rate__gt=0)
    quotas = Assignment.objects.filter(project=OuterRef("pk"), person=person, ended_at=None)
    rows = Project.objects.filter(pk__in=[project.pk for project in projects]).order_by()
    flags = {pk: pair for pk, *pair in rows.values_list("pk", Exists(gold), Exists(quotas))}
    return [each for each in projects if flags[each.pk][0]], [each for each in projects if flags[each.pk][1]]


def _counted(slots: QuerySet[Slot], *counts: Count) -> QuerySet:
    """Return rows of (project, stage, *counts)."""
    named = {f"n{place}": count for place, count in enumerate(counts)}
    return slots.order_by().values_list("project", "stage").annotate(**named)
