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


def behind(project: int, stage: str, person: int, *, caption_once: bool) -> QuerySet[Slot]:
    """Return free slots in queue order: a hint only, the claim checks eligibility. Excludes what the person has begun.

    Leaves slots that were already promised to people at work, or every second claim would find its slot taken.
    """
    free = Slot.objects.filter(project=project, stage=stage, state=SlotState.FREE)
    begun = Slot.objects.filter(item=OuterRef("item"), stage=stage, person=person)
    practised = Question.objects.filter(attempt__person=person, pair__item=OuterRef("item"))
    skipped = Lease.objects.filter(task=OuterRef("task"), person=person, ending=Ending.SKIPPED)
    found = free.filter(~Exists(begun), ~Exists(practised), ~Exists(skipped), ~Exists(declined_by(person)))
    at_work = Lease.objects.filter(slot__project=project, slot__stage=stage, slot__state=SlotState.LEASED)
    named = at_work.filter(ending=Ending.RUNNING, upcoming_slot__isnull=False).values("upcoming_slot")
    found = found.filter(has_watchable_clip()).exclude(pk__in=named)
    if caption_once:
        found = found.exclude(same_clip_and_sentence(person, stage))
    return found.order_by("priority", "id")


def with_what_follows(
    slots: QuerySet[Slot], stage: str, *, person: int, project: int, rest: int, caption_once: bool
) -> QuerySet[Slot]:
    """Add to slots of a judging stage: `guideline_now`, an id, and `following`, the slot to offer next and its video.

    `rest`: a random number below SPREAD.
    """
    others = behind(project, public_stage(stage), person, caption_once=caption_once)
    if stage != Stage.GOLD:
        others = others.exclude(item=OuterRef("item"))
    if caption_once:
        others = others.exclude(video=OuterRef("video"))
    both = others.annotate(both=JSONObject(slot="pk", video="video")).values("both")
    last_bits = ExpressionWrapper(F("id").bitand(SPREAD - 1), BigIntegerField())
    mine = both.alias(rest=last_bits).filter(rest=rest)
    subtest = OuterRef("task__gold__subtest" if stage == Stage.GOLD else "item__subtest")
    guidelines = Guideline.objects.filter(Q(subtest=None) | Q(subtest=subtest), stage=public_stage(stage))
    newest = guidelines.filter(project=project).order_by(*NEWEST).values("pk")[:1]
    following = Coalesce(Subquery(mine[:1]), Subquery(both[:1]), output_field=JSONField())
    return slots.annotate(guideline_now=Subquery(newest), following=following)
