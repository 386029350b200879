"""Decide who may do which work (docs/workflow.md#rule-1, docs/workflow.md#rule-10). Pure.

`why_not` is the rule. The claim asks the database the same in one query (annotation.queries.eligibility; a test keeps
the two equal). The submit calls `why_not` with fresh facts if its first statements show prior work on the video.
"""

from dataclasses import dataclass
from enum import StrEnum

# Earlier work does not matter for these: writing foils, finding objects in a frame.
OPEN_TO_ALL = frozenset({"edit", "objects"})
# Prior judgements on the video exclude from these, even on another item: they reveal the caption.
FIRST_LOOK = frozenset({"baseline", "unseen"})


class Refusal(StrEnum):
    TASK_OVER = "task_over"
    MEDIA_MISSING = "media_missing"
    RESERVED = "reserved"
    OWN_WORK = "own_work"
    MADE_IT = "made_it"
    REVIEWED_IT = "reviewed_it"
    JUDGED_IT = "judged_it"
    SAME_ITEM = "same_item"


@dataclass(frozen=True)
class PriorInvolvement:
    """A person's involvement in a video; `group` is the candidate group, None for imported items."""

    video: int
    group: int | None = None


@dataclass(frozen=True)
class TaskFacts:
    """The target of a task. `lineage`: the candidate and its ancestors, newest first (review only).

    `second`: this review repeats another one, and is only compared with it.
    """

    stage: str
    hand: PriorInvolvement
    item: int | None = None
    lineage: tuple[int, ...] = ()
    is_open: bool = True
    media_ready: bool = True
    reserved_for: int | None = None
    second: bool = False


@dataclass(frozen=True)
class PersonFacts:
    """What a person has done in the project so far; undone work counts, since it was seen and made.

    wrote: ids of candidates that they wrote or submitted. decided: ids of candidates that they have reviewed.
    judged_items: ids of items that they have answered (at a claim: or hold) in the stage or without the clip;
    for a choice without the clip, in any stage.
    """

    person: int
    made: frozenset[PriorInvolvement] = frozenset()
    reviewed: frozenset[PriorInvolvement] = frozenset()
    settled: frozenset[PriorInvolvement] = frozenset()
    judged: frozenset[PriorInvolvement] = frozenset()
    wrote: frozenset[int] = frozenset()
    decided: frozenset[int] = frozenset()
    judged_items: frozenset[int] = frozenset()


def why_not(person: PersonFacts, task: TaskFacts, scope: str) -> Refusal | None:
    """Return why the person may not do this task, or None. `scope`: "video", or "item" (only its group)."""
    if not task.is_open:
        return Refusal.TASK_OVER
    if not task.media_ready:
        return Refusal.MEDIA_MISSING
    if task.reserved_for not in (None, person.person):
        return Refusal.RESERVED
    return None if task.stage in OPEN_TO_ALL else _leak(person, task, scope)


def _leak(person: PersonFacts, task: TaskFacts, scope: str) -> Refusal | None:
    if person.wrote.intersection(task.lineage):
        return Refusal.OWN_WORK
    if task.item is not None and task.item in person.judged_items:
        return Refusal.SAME_ITEM
    if _within(person.made, task.hand, scope):
        return Refusal.MADE_IT
    if task.second and person.decided.intersection(task.lineage[:1]):
        return Refusal.REVIEWED_IT
    if task.second and _within(person.judged, task.hand, scope):
        return Refusal.JUDGED_IT
    # A review is not blind: a person may review several foils of one video (decision 8).
    if task.stage != "review" and _within(person.reviewed | person.settled, task.hand, scope):
        return Refusal.REVIEWED_IT
    if task.stage in FIRST_LOOK and _within(person.judged, task.hand, "video"):
        return Refusal.JUDGED_IT
    return None


def _within(hands: frozenset[PriorInvolvement], target: PriorInvolvement, scope: str) -> bool:
    return target in hands if scope == "item" else any(hand.video == target.video for hand in hands)
