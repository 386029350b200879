"""Gold among real work: which pair a person is given, and its place, made for them alone."""

from collections.abc import Callable
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.actions.leases import leasing
from annotation.actions.quality import standings
from annotation.claims import Claim, claim_of
from annotation.models import (
    GoldPair,
    Involvement,
    Lease,
    Question,
    Slot,
    Stage,
    Standing,
    Task,
    TaskState,
    Use,
    Vote,
)
from annotation.queries.eligibility import declined_by
from annotation.rules.gold_serving import gold_caption_first, gold_is_due, pick, stretch_of
from corpus.models import WATCHABLE
from projects.models import User

LookAhead = Callable[[Slot, Standing | None], tuple[int | None, int | None]]


def is_due(standing: Standing | None) -> bool:
    """Whether the person's next piece is gold."""
    return standing is not None and _due(standing, standing.served, standing.gold_stretch)


def upcoming(standing: Standing, person: User, slot: Slot) -> tuple[int, int] | None:
    """(place, video) of the gold that comes after the piece in `slot`, if gold is due then: its clip is loaded ahead
    as that of any other."""
    stretch = standing.gold_stretch
    if slot.stage == Stage.GOLD:
        stretch = stretch_of(standing.served, standing.policy.gold_rate)
    if not _due(standing, standing.served + 1, stretch):
        return None
    pair = _chosen(standing, person, slot.task.gold_id)
    return (_place(pair, person).pk, pair.video_id) if pair else None


def serve(standing: Standing, person: User, now: datetime, look_ahead: LookAhead) -> Claim | None:
    """A lease on a pair that the person has never seen, or None where there is none."""
    pair = _chosen(standing, person)
    if pair is None:
        return None
    slot = _place(pair, person)
    place, video = look_ahead(slot, standing)
    first = gold_caption_first(standing.policy.secret, person.pk, standing.gold_served)
    lease = leasing.open_lease(slot, person, now, upcoming=place, standing=standing, first=first)
    count_served(standing, gold=True)
    return claim_of(lease, slot, upcoming_video=video, with_rows=True)


def unseen(person: User, project_id: int) -> QuerySet[GoldPair]:
    """Return the pairs that may be mixed in for the person.

    Never leased or asked before, no hand in the video or in the texts, the item behind it neither judged nor held by
    them, the video not declined, and where a sentence is judged once, its caption not shown before.
    """
    pairs = GoldPair.objects.filter(
        project=project_id, use=Use.MIXED, withdrawn_at=None, video__media_state__in=WATCHABLE
    )
    kinds = [Involvement.Kind.MADE, Involvement.Kind.REVIEWED, Involvement.Kind.SETTLED]
    hands = Involvement.objects.filter(
        Q(video=OuterRef("video")) | Q(video=OuterRef("item__video")), person=person, kind__in=kinds
    )
    caption = OuterRef("item__caption")
    shown = Lease.objects.filter(Q(slot__item__caption=caption) | Q(task__gold__item__caption=caption), person=person)
    asked = Question.objects.filter(pair__item__caption=caption, attempt__person=person)
    return pairs.exclude(Q(project__judge_caption_once=True) & (Q(Exists(shown)) | Q(Exists(asked)))).exclude(
        Exists(Lease.objects.filter(task__gold=OuterRef("pk"), person=person))
        | Exists(Question.objects.filter(pair=OuterRef("pk"), attempt__person=person))
        | Exists(hands)
        | Exists(Vote.objects.filter(item=OuterRef("item"), person=person))
        | Exists(Slot.objects.filter(item=OuterRef("item"), person=person))
        | Exists(declined_by(person.pk))
    )


def count_served(standing: Standing | None, *, gold: bool) -> None:
    """A new piece is in the person's hands."""
    if standing is not None:
        standings.count_piece(standing, gold=gold)


def _due(standing: Standing, served: int, last_stretch: int) -> bool:
    policy = standing.policy
    return gold_is_due(policy.secret, standing.person_id, served, policy.gold_rate, last_stretch)


def _chosen(standing: Standing, person: User, but: int | None = None) -> GoldPair | None:
    """The same one whenever it is asked, as long as the same ones are to be had."""
    ids = unseen(person, standing.policy.project_id).values_list("pk", flat=True)
    chosen = pick(standing.policy.secret, person.pk, (pk for pk in ids if pk != but))
    return None if chosen is None else GoldPair.objects.select_related("project", "subtest", "video").get(pk=chosen)


def _place(pair: GoldPair, person: User) -> Slot:
    """The person's own place in the pair's task; both are made when they are first needed."""
    fields = {"project": pair.project, "video": pair.video}
    also = {"overlap": 0, "state": TaskState.OPEN}
    task, _made = Task.objects.get_or_create(gold=pair, stage=Stage.GOLD, defaults={**fields, **also})
    slot, _made = Slot.objects.get_or_create(
        task=task, index=person.pk, defaults={**fields, "stage": Stage.GOLD, "priority": 0.0}
    )
    # What its card shows, read already.
    slot.project, slot.video, slot.task, task.gold = pair.project, pair.video, task, pair
    return slot
