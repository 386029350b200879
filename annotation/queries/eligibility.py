"""The eligibility rule as queries: a person's free slots, and the facts for the pure rule.

annotation.rules.eligibility defines the rule; tests check that both agree.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.lookups import In, IsNull

from annotation.models import (
    DeclinedVideo,
    Edit,
    GoldPair,
    Involvement,
    Lease,
    Question,
    Review,
    Slot,
    SlotState,
    Stage,
    Task,
    Vote,
    VoteState,
)
from annotation.models.stages import CHOICES
from annotation.rules.eligibility import FIRST_LOOK, OPEN_TO_ALL, PersonFacts, PriorInvolvement, TaskFacts
from annotation.rules.ordering import FRESH, STARTED
from foilworks.core.corpus.models import WATCHABLE, Item, Video
from foilworks.core.projects.models import LeakageScope, Project, User
from foilworks.core.projects.sql.prepared_queries import Prepared
from generation.models import Candidate

# The path from a slot's task to its candidate group.
_GROUP = {
    Stage.EDIT: "task__group_id",
    Stage.REVIEW: "task__candidate__group_id",
    Stage.VALIDATION: "item__candidate_group__id",
    Stage.BASELINE: "item__candidate_group__id",
    Stage.UNSEEN: "item__candidate_group__id",
}
JUDGING = frozenset({Stage.VALIDATION, *CHOICES})

_INVOLVEMENTS = Prepared(
    lambda person, video: Involvement.objects.filter(person=person, video=video).values_list("kind", "group")
)
_PARENT = Prepared(lambda pk: Candidate.objects.filter(pk=pk).values_list("parent_id", flat=True))
_WROTE = Prepared(
    lambda pk, person: Candidate.objects.filter(
        Q(author=person)
        | Exists(Edit.candidates.through.objects.filter(candidate=OuterRef("pk"), edit__person=person)),
        pk=pk,
    ).values_list("pk")
)


class Leakage(NamedTuple):
    """The project's leakage options: the scope of exclusions, and whether a sentence is judged once.

    `gold`: whether people may know answers from gold or practice. Without a quality policy, nobody does.
    """

    scope: str
    caption_once: bool
    gold: bool = True


def leakage_of(project: Project, *, gold: bool = True) -> Leakage:
    """Return the project's options that shape the queries below."""
    return Leakage(project.leakage_scope, project.judge_caption_once, gold)


@dataclass(frozen=True)
class ExclusionConditions:
    """The conditions that exclude the person from a slot, on Slot rows of the stage."""

    media: Q
    reserved: Q
    made: Q
    reviewed: Q
    judged: Q
    yours: Q
    # A sentence of the slot's clip was shown to the person with another pair.
    sentence: Q
    # Skipped at a content warning: never offered again.
    declined: Q

    def any(self) -> Q:
        own = self.declined | self.yours | self.sentence
        return own | self.media | self.reserved | self.made | self.reviewed | self.judged


def bars(person: int, leakage: Leakage, stage: str, now: datetime) -> ExclusionConditions:
    """Return the conditions under which `person` may not take a slot of `stage` now."""
    nothing, scope = Q(pk__in=[]), leakage.scope
    own = Q(Exists(Slot.objects.filter(task=OuterRef("task"), person=person)))
    judges = stage in JUDGING
    if judges:
        own |= Q(Exists(Slot.objects.filter(item=OuterRef("item"), stage__in=_excluding(stage), person=person)))
        own |= answered_or_known(person, stage, gold=leakage.gold)
        if leakage.gold:
            # The person may know its answer from practice.
            own |= Q(Exists(Question.objects.filter(attempt__person=person, pair__item=OuterRef("item"))))
    if stage == Stage.REVIEW:
        # Own work is an involvement, too; checked on the row itself, because it must never happen.
        own |= Q(task__candidate__author=person)
        decided = Review.objects.filter(candidate=OuterRef("task__candidate"), person=person, undone_at=None)
        judged = _hand(person, scope, stage, Involvement.Kind.JUDGED)
        own |= Q(task__second=True) & (Q(Exists(decided)) | judged)
    leaks = stage not in OPEN_TO_ALL
    return ExclusionConditions(
        media=~has_watchable_clip(),
        reserved=Q(reserved_for__isnull=False, reserved_until__gt=now) & ~Q(reserved_for=person),
        made=_hand(person, scope, stage, Involvement.Kind.MADE) if leaks else nothing,
        # A person who decided a disputed item has seen the verdicts of others, like a reviewer.
        reviewed=_hand(person, scope, stage, Involvement.Kind.REVIEWED, Involvement.Kind.SETTLED)
        if judges
        else nothing,
        judged=_judged(person) if stage in FIRST_LOOK else nothing,
        yours=own,
        sentence=shown_a_sentence(person, stage, gold=leakage.gold) if judges and leakage.caption_once else nothing,
        declined=Q(Exists(declined_by(person))),
    )


def places_ahead(person: User, project: Project, stage: str, now: datetime, most: int) -> list[tuple[int, int]]:
    """Return (task, item) of the next `most` slots that the person may take now, even if locked.

    The item's caption replaces the item if a sentence is judged once. `most` is a constant.
    """
    return _places_ahead(leakage_of(project), stage, most).all(person=person.pk, project=project.pk, now=now)


def may_take_any(person: User, project: Project, stage: str, now: datetime) -> bool:
    """Return whether the person may take any slot now, even a locked one."""
    found = _places_ahead(leakage_of(project), stage, 1)
    return found.first(person=person.pk, project=project.pk, now=now) is not None


@cache
def _places_ahead(leakage: Leakage, stage: str, most: int) -> Prepared[tuple[int, int]]:
    """Return what `places_ahead` reads. Compiled once, the page of a queue takes 23 instead of 50 ms of CPU."""
    judged = caption_of_item() if leakage.caption_once else F("item")
    return Prepared(lambda **whose: slots_in_scope(leakage, stage, **whose).values_list("task", judged)[:most])


def slots_in_scope(leakage: Leakage, stage: str, *, person: int, project: int, now: datetime) -> QuerySet[Slot]:
    """Return the free slots of the stage that the person may take now, in queue order.

    The parameters that change the form of the query come first, so that the rest can be prepared.
    """
    free = Slot.objects.filter(project=project, stage=stage, state=SlotState.FREE)
    return free.exclude(bars(person, leakage, stage, now).any()).order_by("priority", "id")


def has_watchable_clip() -> Q:
    """Return the condition that the slot's clip can be watched, looked up per slot.

    The planner of PostgreSQL may read the whole table of videos first if it joins it.
    """
    return Q(In(Subquery(Video.objects.filter(pk=OuterRef("video")).values("media_state")), WATCHABLE))


def caption_of_item() -> Subquery:
    """Return the caption of the slot's item, looked up per slot.

    The planner of PostgreSQL expects one free slot after so many conditions, and would read all items for each.
    """
    return Subquery(Item.objects.filter(pk=OuterRef("item")).values("caption"))


def declined_by(person: int, video: str = "video") -> QuerySet[DeclinedVideo]:
    """Return the person's declined videos that match the video of the outer row, a slot or a pair."""
    return DeclinedVideo.objects.filter(person=person, video=OuterRef(video))


def answered_or_known(person: int, stage: str, *, gold: bool = True) -> Q:
    """Return the condition that the person has answered the slot's item in the stage, or knows it from gold."""
    answered = _votes_of(person, stage).filter(item=OuterRef("item"))
    if not gold:
        return Q(Exists(answered))
    # The pairs of the item first: a join may read every vote of the person for each slot.
    told = Vote.objects.filter(person=person, gold=OuterRef("pk"))
    return Q(Exists(answered)) | _any(GoldPair.objects.filter(_any(told), item=OuterRef("item")))


def shown_a_sentence(person: int, stage: str, *, gold: bool = True) -> Q:
    """Return the condition that a caption or foil of the slot was shown to the person with another pair of its clip.

    Leases say what was shown: a skipped pair was read as well. Of two sentences, the one that comes back is mostly the
    caption, which several foils share. A pair with a known answer counts by the caption that it was made of.
    """
    if not gold:
        return same_clip_and_sentence(person, stage)
    same_caption = OuterRef("item")
    known = _shown_of_clip(person).filter(task__gold__item__caption__items=same_caption)
    asked = Question.objects.filter(attempt__person=person, pair__item__caption__items=same_caption)
    return same_clip_and_sentence(person, stage) | _any(known) | _any(asked)


def same_clip_and_sentence(person: int, stage: str) -> Q:
    """Return the part of `shown_a_sentence` that is about pairs of the slot's clip, or of the other clip of its item.

    Texts are compared only if the person held a lease on the clip: of most slots, one look at an index decides.
    """
    stages = [Stage.VALIDATION, Stage.UNSEEN, *([Stage.BASELINE] if stage in CHOICES else [])]
    texts = Q()
    for mine in ("item__caption__text_sha256", "foil__text_sha256"):
        for theirs in ("task__item__caption__text_sha256", "task__foil__text_sha256"):
            texts |= Q(**{mine: OuterRef(theirs)})
    same_text = Task.objects.filter(texts, pk=OuterRef(OuterRef("task")))
    shown = _shown_of_clip(person).filter(slot__stage__in=stages).exclude(task=OuterRef("task"))
    return _any(shown.filter(_any(same_text))) | _shown_with_other_clip(person, stages)


def _shown_with_other_clip(person: int, stages: list[str]) -> Q:
    """Return the condition that the person saw the two sentences with the other clip of an item of two clips.

    Whoever knows the answer for one clip can guess the other. Of most items, one look at their row decides: they have
    no pair name.
    """
    leases = _shown_of_clip(person).filter(task__item=OuterRef("pk"), slot__stage__in=stages)
    others = Item.objects.filter(pair__gt="", subtest=OuterRef("subtest"), pair=OuterRef("pair"))
    other = others.exclude(pk=OuterRef("pk")).filter(_any(leases))
    return _any(Item.objects.filter(_any(other), pk=OuterRef("item"), pair__gt=""))


def _any(rows: QuerySet) -> Q:
    """Return the condition that there is such a row, looked up per slot.

    The planner of PostgreSQL may join an Exists, and without statistics it then reads whole tables.
    """
    return Q(IsNull(Subquery(rows.values("pk")[:1]), False))


def _shown_of_clip(person: int) -> QuerySet[Lease]:
    """Return the person's leases that showed sentences of the slot's clip."""
    return Lease.objects.filter(person=person, caption_video=OuterRef("video"))


def skipped_by(person: int) -> Exists:
    """Return the condition that the person has skipped the slot's task: these come last."""
    return Exists(Lease.objects.filter(task=OuterRef("task"), person=person, ending="skipped"))


def _hand(person: int, scope: str, stage: str, *kinds: str) -> Q:
    hands = Involvement.objects.filter(person=person, kind__in=kinds, video=OuterRef("video"))
    if scope == LeakageScope.VIDEO:
        return Q(Exists(hands))
    group = _GROUP[Stage(stage)]
    same_group = Q(Exists(hands.filter(group=OuterRef(group))))
    if stage in JUDGING:
        return same_group | (Q(**{f"{group}__isnull": True}) & Q(Exists(hands.filter(group__isnull=True))))
    return same_group


def _judged(person: int) -> Q:
    kind = Involvement.Kind.JUDGED
    return Q(Exists(Involvement.objects.filter(person=person, kind=kind, video=OuterRef("video"))))


def _excluding(stage: str) -> list[str]:
    """Return the stages whose answers to an item exclude from it: nobody judges it both with and without its clip."""
    return sorted(JUDGING) if stage == Stage.UNSEEN else [stage, Stage.UNSEEN]


def _votes_of(person: int, stage: str) -> QuerySet[Vote]:
    return Vote.objects.filter(person=person, stage__in=_excluding(stage)).exclude(state=VoteState.UNDONE)


def lineage_of(candidate: Candidate) -> tuple[int, ...]:
    """Return the ids of the candidate and of what it was reworded from, newest first."""
    found = [candidate.pk]
    parent = candidate.parent_id
    while parent is not None:
        found.append(parent)
        parent = _PARENT.first(pk=parent)
    return tuple(found)


def task_facts(slot: Slot, now: datetime) -> TaskFacts:
    """Return the facts of a slot's task. The slot comes with task, its candidate or item, and video."""
    task = slot.task
    reserved = slot.reserved_for_id if slot.reserved_until and slot.reserved_until > now else None
    return TaskFacts(
        stage=slot.stage,
        hand=PriorInvolvement(slot.video_id, group_of(slot)),
        item=slot.item_id,
        lineage=lineage_of(task.candidate) if task.candidate_id else (),
        is_open=task.state == "open",
        media_ready=slot.video.media_state in WATCHABLE,
        reserved_for=reserved,
        second=task.second,
    )


def group_of(slot: Slot) -> int | None:
    """Return the candidate group behind a slot's task; None for an imported item."""
    task = slot.task
    if task.group_id:
        return task.group_id
    if task.candidate_id:
        return task.candidate.group_id
    group = getattr(task.item, "candidate_group", None)
    return group.pk if group else None


def involvements_of(person: User, video: int) -> PersonFacts:
    """Return the person's involvements in a video. One query."""
    by_kind: dict[str, set[PriorInvolvement]] = {}
    for kind, group in _INVOLVEMENTS.all(person=person.pk, video=video):
        by_kind.setdefault(kind, set()).add(PriorInvolvement(video, group))
    return PersonFacts(
        person=person.pk,
        made=frozenset(by_kind.get(Involvement.Kind.MADE, ())),
        reviewed=frozenset(by_kind.get(Involvement.Kind.REVIEWED, ())),
        settled=frozenset(by_kind.get(Involvement.Kind.SETTLED, ())),
        judged=frozenset(by_kind.get(Involvement.Kind.JUDGED, ())),
    )


def person_facts(person: User, task: TaskFacts, answered: Collection[int] | None = None) -> PersonFacts:
    """Return what the person has done that matters to this task: involvements, lineage, its item.

    `answered`: the items that they have answered in the stage, or know from gold, if the caller knows.
    """
    if answered is None:
        answered = {task.item} if task.item and _has_judged(person, task) else ()
    return replace(
        involvements_of(person, task.hand.video),
        wrote=frozenset(pk for pk in task.lineage if _WROTE.first(pk=pk, person=person.pk) is not None),
        decided=frozenset(_decided(person, task.lineage) if task.second else ()),
        judged_items=frozenset(answered or ()),
    )


def _has_judged(person: User, task: TaskFacts) -> bool:
    """Return whether they have answered the item in a stage that excludes, or know it from gold."""
    assert task.item is not None
    of_item = Q(stage__in=_excluding(task.stage), item=task.item)
    votes = Vote.objects.filter(of_item | Q(gold__item=task.item), person=person)
    return votes.exclude(state=VoteState.UNDONE).exists()


def _decided(person: User, lineage: tuple[int, ...]) -> QuerySet:
    reviews = Review.objects.filter(person=person, candidate__in=lineage, undone_at=None)
    return reviews.values_list("candidate_id", flat=True)


# Moves a slot from the band of new tasks to that of started ones, with its position in the shuffle.
AS_STARTED = F("priority") - (FRESH - STARTED)
# A free slot that is still among the new tasks.
FRESH_PLACE = Q(state=SlotState.FREE, priority__gte=FRESH)
