"""What a submit reads: few statements, each for several questions."""

from datetime import datetime

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, FilteredRelation, OuterRef, Q, QuerySet

from annotation.models import (
    Assignment,
    Edit,
    GoldPair,
    Involvement,
    Lease,
    Review,
    Slot,
    SlotState,
    Stage,
    Vote,
    VoteState,
)
from annotation.models.stages import stages_shown_as
from foilworks.core.corpus.models import Foil
from foilworks.core.projects.sql.prepared_queries import Prepared
from generation.models import Candidate

_HELD = (
    "person",
    "guideline",
    "standing",
    "slot__video",
    "slot__project__quality",
    "slot__project__pay_policy",
)
PAIR = ("pk", "verdict", "judged__overlap", "judged__in_full", "of_item", "counted__choice")
BARRING = (Involvement.Kind.MADE, Involvement.Kind.REVIEWED, Involvement.Kind.SETTLED)


def counted_pairs(item: int) -> QuerySet[Foil]:
    """Return the item's pairs with their tasks, a row per counted vote; `PAIR` are the columns to read."""
    votes = Q(votes__stage=Stage.VALIDATION, votes__state=VoteState.COUNTED)
    of_file = Vote.objects.filter(item=item, stage=Stage.VALIDATION, state=VoteState.COUNTED, foil=None)
    return (
        Foil.objects.filter(item=item)
        .annotate(
            of_item=Exists(of_file),
            counted=FilteredRelation("votes", condition=votes),
            judged=FilteredRelation("tasks", condition=Q(tasks__stage=Stage.VALIDATION)),
        )
        .order_by()
    )


def _held(token: str, person: int, *locked: str, also: tuple[str, ...] = ()) -> QuerySet[Lease]:
    """Return the lease, a row per role of its person, and lock, in this order: person, `locked`, slot, lease.

    What is not locked may be as it was before the statement waited for a lock.
    """
    mine = FilteredRelation("slot__project__memberships", condition=Q(slot__project__memberships__person=person))
    assignments = Assignment.objects.filter(project=OuterRef("slot__project"), person=person, ended_at=None)
    rows = Lease.objects.filter(token=token, person=person).annotate(
        mine=mine, role=F("mine__role"), consented=F("mine__consent_version"), assigned=Exists(assignments)
    )
    rows = rows.select_related(*_HELD, *locked, *also)
    return rows.select_for_update(of=("person", *locked, "slot", "self"), no_key=True)


def _held_item(token: str, person: int) -> QuerySet[Lease]:
    also = ("task__item__subtest", "task__item__candidate_group")
    return _held(token, person, "task__item", also=also).filter(task__item__state__isnull=False)


def _held_gold(token: str, person: int) -> QuerySet[Lease]:
    return _held(token, person, "task__gold", also=("task__gold__item",)).filter(task__gold__use__isnull=False)


def _held_group(token: str, person: int) -> QuerySet[Lease]:
    also = ("task__group__caption", "task__group__run__subtest", "slot__project__review_policy")
    return _held(token, person, "task__group", also=also).filter(task__group__run__isnull=False)


def _held_candidate(token: str, person: int) -> QuerySet[Lease]:
    group = "task__candidate__group"
    also = (f"{group}__caption", f"{group}__run__subtest", "slot__project__review_policy")
    rows = _held(token, person, group, "task__candidate", also=also)
    return rows.filter(task__candidate__state__isnull=False, task__candidate__group__run__isnull=False)


def _held_frame(token: str, person: int) -> QuerySet[Lease]:
    return _held(token, person, "task__frame").filter(task__frame__state__isnull=False)


_ITEM = Prepared(_held_item)
HELD = {
    Stage.EDIT: (Prepared(_held_group),),
    Stage.REVIEW: (Prepared(_held_candidate),),
    Stage.VALIDATION: (_ITEM, Prepared(_held_gold)),
    Stage.BASELINE: (_ITEM,),
    Stage.UNSEEN: (_ITEM,),
    Stage.OBJECTS: (Prepared(_held_frame),),
}


def _hurdles(person: int, project: int, video: int, slot: int, key: str, now: datetime) -> Q:
    """Return the condition that more must be read: prior work on the video, an old key, another lease."""
    leased = Slot.objects.filter(project=project, state=SlotState.LEASED)
    mine = leased.filter(person=person, stage__in=stages_shown_as(Stage.VALIDATION)).exclude(pk=slot)
    return (
        Q(Exists(Involvement.objects.filter(person=person, video=video, kind__in=BARRING)))
        | Q(Exists(Vote.objects.filter(person=person, idempotency_key=key)))
        | Q(Exists(mine))
        | Q(Exists(leased.filter(expires_at__lte=now)))
    )


def _pairs(item: int, **whose: object) -> QuerySet:
    """Return the counted votes of the item's pairs with `hurdle`, true if more must be read."""
    votes = Vote.objects.filter(person=whose["person"])
    answered = votes.filter(item=item, stage=Stage.VALIDATION).exclude(state=VoteState.UNDONE)
    known = votes.filter(gold__item=item).exclude(state=VoteState.UNDONE)
    hurdle = _hurdles(**whose) | Q(Exists(answered)) | Q(Exists(known))
    rows = counted_pairs(item).annotate(hurdle=ExpressionWrapper(hurdle, BooleanField()))
    return rows.values_list("hurdle", *PAIR)


def _gold(pair: int, **whose: object) -> QuerySet:
    """Return the pair with `hurdle`, true if more must be read."""
    answered = Vote.objects.filter(person=whose["person"], gold=pair).exclude(state=VoteState.UNDONE)
    hurdle = _hurdles(**whose) | Q(Exists(answered))
    rows = GoldPair.objects.filter(pk=pair).annotate(hurdle=ExpressionWrapper(hurdle, BooleanField()))
    return rows.values_list("hurdle", "pk")


def _reviewed(candidate: int, video: int, person: int, key: str) -> QuerySet:
    """Return whether more must be read for a first review: an old key, own work, or a text with an earlier one."""
    submitted = Edit.candidates.through.objects.filter(candidate=OuterRef("pk"), edit__person=person)
    hurdle = (
        Q(Exists(Review.objects.filter(person=person, idempotency_key=key)))
        | Q(Exists(Involvement.objects.filter(person=person, video=video, kind=Involvement.Kind.MADE)))
        | Q(Exists(submitted))
        | Q(author=person)
        | Q(parent__isnull=False)
    )
    rows = Candidate.objects.filter(pk=candidate).order_by()
    return rows.annotate(hurdle=ExpressionWrapper(hurdle, BooleanField())).values_list("hurdle")


REVIEWED = Prepared(_reviewed)
PAIRS, GOLD = Prepared(_pairs), Prepared(_gold)
