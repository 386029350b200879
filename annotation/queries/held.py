"""What one request reads to store a judgement and to claim the next one: few statements, each for several questions."""

from datetime import datetime

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, FilteredRelation, Q, QuerySet

from annotation.models import GoldPair, Involvement, Lease, Slot, SlotState, Stage, Vote, VoteState
from annotation.models.stages import stages_shown_as
from foilworks.core.corpus.models import Foil
from foilworks.core.projects.sql.prepared import Prepared

_HELD = (
    "person",
    "guideline",
    "standing",
    "slot__video",
    "slot__project__quality",
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


def _held(token: str, person: int, *judged: str) -> QuerySet[Lease]:
    """Return the lease, a row per role of its person, and lock in this order: the person, what is judged, the slot.

    What is not locked may be as it was before the statement waited for a lock.
    """
    mine = FilteredRelation("slot__project__memberships", condition=Q(slot__project__memberships__person=person))
    rows = Lease.objects.filter(token=token, person=person).annotate(
        mine=mine, role=F("mine__role"), consented=F("mine__consent_version")
    )
    rows = rows.select_related(*_HELD, *judged)
    return rows.select_for_update(of=("person", judged[0], "slot"), no_key=True)


HELD = Prepared(
    lambda token, person: _held(
        token, person, "task__item", "task__item__subtest", "task__item__candidate_group"
    ).filter(task__item__state__isnull=False)
)
HELD_GOLD = Prepared(
    lambda token, person: _held(token, person, "task__gold", "task__gold__item").filter(task__gold__use__isnull=False)
)


def _hurdles(person: int, project: int, video: int, slot: int, key: str, now: datetime) -> Q:
    """Return the condition that the usual way is closed: prior work on the video, an old key, another lease."""
    leased = Slot.objects.filter(project=project, state=SlotState.LEASED)
    mine = leased.filter(person=person, stage__in=stages_shown_as(Stage.VALIDATION)).exclude(pk=slot)
    return (
        Q(Exists(Involvement.objects.filter(person=person, video=video, kind__in=BARRING)))
        | Q(Exists(Vote.objects.filter(person=person, idempotency_key=key)))
        | Q(Exists(mine))
        | Q(Exists(leased.filter(expires_at__lte=now)))
    )


def _pairs(item: int, **whose: object) -> QuerySet:
    """Return the counted votes of the item's pairs with `hurdle`, true if the general way is needed."""
    votes = Vote.objects.filter(person=whose["person"])
    answered = votes.filter(item=item, stage=Stage.VALIDATION).exclude(state=VoteState.UNDONE)
    known = votes.filter(gold__item=item).exclude(state=VoteState.UNDONE)
    hurdle = _hurdles(**whose) | Q(Exists(answered)) | Q(Exists(known))
    rows = counted_pairs(item).annotate(hurdle=ExpressionWrapper(hurdle, BooleanField()))
    return rows.values_list("hurdle", *PAIR)


def _gold(pair: int, **whose: object) -> QuerySet:
    """Return whether the general way is needed for an answer to gold, as a row of one column."""
    answered = Vote.objects.filter(person=whose["person"], gold=pair).exclude(state=VoteState.UNDONE)
    hurdle = _hurdles(**whose) | Q(Exists(answered))
    rows = GoldPair.objects.filter(pk=pair).annotate(hurdle=ExpressionWrapper(hurdle, BooleanField()))
    return rows.values_list("hurdle", "pk")


PAIRS, GOLD = Prepared(_pairs), Prepared(_gold)
