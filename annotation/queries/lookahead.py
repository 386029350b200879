"""The slots behind a person's current task: which of them is offered next, so that its clip can load."""

from django.db.models import BigIntegerField, Exists, ExpressionWrapper, F, JSONField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, JSONObject

from annotation.models import Ending, Guideline, Lease, Question, Slot, SlotState, Stage
from annotation.models.stages import public_stage
from annotation.queries.eligibility import declined_by, has_watchable_clip, same_clip_and_sentence

# A subtest's own guideline before that of the stage.
NEWEST = (F("subtest").desc(nulls_last=True), "-version")
# One of so many slots is offered, drawn by the last bits of its number, so that two who submit at once are rarely
# offered the same, and it is chance who judges with whom.
SPREAD = 32


def behind(project: int, stage: str, person: int, *, caption_once: bool, gold: bool = True) -> QuerySet[Slot]:
    """Return free slots in queue order: a hint only, the claim checks eligibility. Excludes what the person has begun.

    Leaves slots that were already promised to people at work, or every second claim would find its slot taken.
    """
    free = Slot.objects.filter(project=project, stage=stage, state=SlotState.FREE)
    begun = Slot.objects.filter(item=OuterRef("item"), stage=stage, person=person)
    practised = Question.objects.filter(attempt__person=person, pair__item=OuterRef("item"))
    skipped = Lease.objects.filter(task=OuterRef("task"), person=person, ending=Ending.SKIPPED)
    found = free.filter(~Exists(begun))
    found = found.filter(~Exists(practised)) if gold else found
    found = found.filter(~Exists(skipped), ~Exists(declined_by(person)))
    found = found.filter(has_watchable_clip()).exclude(pk__in=_promised(project, stage))
    if caption_once:
        found = found.exclude(same_clip_and_sentence(person, stage))
    return found.order_by("priority", "id")


def with_what_follows(
    slots: QuerySet[Slot], stage: str, *, person: int, project: int, rest: int, caption_once: bool, gold: bool = True
) -> QuerySet[Slot]:
    """Add to slots of a judging stage: `guideline_now`, an id, and `following`, the slot to offer next and its video.

    `rest`: a random number below SPREAD. `gold`: as Leakage has it.
    """
    shown_as = public_stage(stage)
    last_bits = ExpressionWrapper(F("id").bitand(SPREAD - 1), BigIntegerField())
    queue = behind(project, shown_as, person, caption_once=caption_once, gold=gold)
    drawn = queue.alias(rest=last_bits).filter(rest=rest)
    mine, any_other = (
        _of_others(found, stage, caption_once=caption_once)
        for found in (drawn, _any_behind(project, shown_as, person, caption_once=caption_once))
    )
    subtest = OuterRef("task__gold__subtest" if stage == Stage.GOLD else "item__subtest")
    guidelines = Guideline.objects.filter(Q(subtest=None) | Q(subtest=subtest), stage=public_stage(stage))
    newest = guidelines.filter(project=project).order_by(*NEWEST).values("pk")[:1]
    following = Coalesce(Subquery(mine[:1]), Subquery(any_other[:1]), output_field=JSONField())
    return slots.annotate(guideline_now=Subquery(newest), following=following)


def _of_others(found: QuerySet[Slot], stage: str, *, caption_once: bool) -> QuerySet:
    """Return slot and video of those that belong to other items than the outer slot, and to other clips if needed."""
    if stage != Stage.GOLD:
        found = found.exclude(item=OuterRef("item"))
    if caption_once:
        found = found.exclude(video=OuterRef("video"))
    return found.annotate(both=JSONObject(slot="pk", video="video")).values("both")


def _any_behind(project: int, stage: str, person: int, *, caption_once: bool) -> QuerySet[Slot]:
    """Return free slots of the queue by few conditions: the last resort where `behind` has none with the drawn bits.

    PostgreSQL prepares every part of a query at each execution, even those that it does not need.
    """
    free = Slot.objects.filter(project=project, stage=stage, state=SlotState.FREE)
    found = free.filter(~Exists(Slot.objects.filter(item=OuterRef("item"), stage=stage, person=person)))
    if caption_once:
        found = found.filter(~Exists(Lease.objects.filter(person=person, caption_video=OuterRef("video"))))
    return found.exclude(pk__in=_promised(project, stage)).order_by("priority", "id")


def _promised(project: int, stage: str) -> QuerySet:
    """Return the slots that people at work are offered next."""
    at_work = Lease.objects.filter(slot__project=project, slot__stage=stage, slot__state=SlotState.LEASED)
    return at_work.filter(ending=Ending.RUNNING, upcoming_slot__isnull=False).values("upcoming_slot")
