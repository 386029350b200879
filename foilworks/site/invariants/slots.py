"""Tasks, their slots and the leases on them.

See docs/workflow.md#rule-0, docs/workflow.md#rule-2 and docs/workflow.md#rule-3.
"""

from collections.abc import Iterator

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.models import (
    Edit,
    Ending,
    Lease,
    ObjectAnswer,
    Review,
    Slot,
    SlotState,
    Stage,
    Task,
    TaskState,
    Vote,
    VoteState,
)
from foilworks.site.invariants.violation import InvariantViolation, rows

IN_USE = (SlotState.LEASED, SlotState.DONE)


def places_follow_their_task() -> Iterator[InvariantViolation]:
    """Check that a task has as many slots as its overlap, with its stage, video, project and item."""
    # Gold has a slot for each person who got it.
    shared = Task.objects.exclude(stage=Stage.GOLD)
    counted = shared.annotate(places=Count("slots")).exclude(places=F("overlap"))
    yield from rows(counted, "has a number of slots that differs from its overlap")
    matches_task = Q(stage=F("task__stage"), video=F("task__video"), project=F("task__project"))
    same_item = Q(item=F("task__item")) | Q(item__isnull=True, task__item__isnull=True)
    yield from rows(
        Slot.objects.exclude(matches_task & same_item), "has a stage, video, project or item that differs from its task"
    )
    surplus = Slot.objects.filter(task__in=shared, index__gte=F("task__overlap"))
    yield from rows(surplus, "has an index beyond its task's overlap")


def open_pairs_want_what_their_subtest_says() -> Iterator[InvariantViolation]:
    """Check that all open pairs of a subtest follow its current rule of votes."""
    pairs = Task.objects.filter(stage=Stage.VALIDATION, state=TaskState.OPEN)
    # A pair that divides people has the maximum.
    usual, more = Q(overlap=F("item__subtest__votes_wanted")), Q(overlap=F("item__subtest__votes_max"))
    yield from rows(pairs.exclude(usual | more), "wants a different number of votes than its subtest")


def tasks_that_are_over_hold_nobody() -> Iterator[InvariantViolation]:
    open_places = Slot.objects.filter(state__in=[SlotState.FREE, SlotState.LEASED])
    yield from rows(open_places.exclude(task__state=TaskState.OPEN), "is open in a closed task")


def a_place_has_a_person_while_it_is_used() -> Iterator[InvariantViolation]:
    yield from rows(Slot.objects.filter(state__in=IN_USE, person=None), "is in use, but has no person")
    yield from rows(Slot.objects.exclude(state__in=IN_USE).exclude(person=None), "is not in use, but has a person")
    wrong = Q(state=SlotState.LEASED, token="") | (~Q(state=SlotState.LEASED) & ~Q(token=""))
    yield from rows(Slot.objects.filter(wrong), "has a token without a lease, or a lease without a token")
    yield from rows(Slot.objects.filter(state=SlotState.LEASED, expires_at=None), "is leased without an expiry")


def one_running_lease_a_leased_place() -> Iterator[InvariantViolation]:
    """Check that a leased slot has exactly one running lease: two people never hold one slot."""
    running = Lease.objects.filter(ending=Ending.RUNNING)
    own_leases = running.filter(slot=OuterRef("pk"), token=OuterRef("token"), person=OuterRef("person"))
    yield from rows(
        Slot.objects.filter(~Exists(own_leases), state=SlotState.LEASED), "is leased, but has no running lease"
    )
    astray = running.exclude(Q(slot__state=SlotState.LEASED) & Q(slot__token=F("token")))
    yield from rows(astray, "runs on a slot that is not leased under it")
    yield from rows(Lease.objects.exclude(task=F("slot__task")), "is for a different task than its slot")


def what_is_done_was_done() -> Iterator[InvariantViolation]:
    """Check that a done slot has its work, and a submitted lease the person's work."""
    done_slots = Slot.objects.filter(state=SlotState.DONE)
    votes = Vote.objects.filter(slot=OuterRef("pk"), state__in=[VoteState.COUNTED, VoteState.SET_ASIDE])
    works = {
        Stage.EDIT: Edit.objects.filter(slot=OuterRef("pk"), undone_at=None),
        Stage.REVIEW: Review.objects.filter(slot=OuterRef("pk"), undone_at=None),
        Stage.VALIDATION: votes,
        Stage.BASELINE: votes,
        Stage.UNSEEN: votes,
        Stage.GOLD: votes,
        Stage.OBJECTS: ObjectAnswer.objects.filter(slot=OuterRef("pk"), undone_at=None),
    }
    for stage, work in works.items():
        yield from rows(done_slots.filter(~Exists(work), stage=stage), "is done, but its work is missing")
    submitted = Lease.objects.filter(ending=Ending.SUBMITTED)
    for stage, work in _given_under_a_lease().items():
        yield from rows(
            submitted.filter(~Exists(work), task__stage=stage), "ended in a submit, but the work is missing"
        )


def _given_under_a_lease() -> dict[str, QuerySet]:
    person = {"person": OuterRef("person")}
    votes = Vote.objects.filter(item=OuterRef("task__item"), **person)
    return {
        Stage.EDIT: Edit.objects.filter(group=OuterRef("task__group"), **person),
        Stage.REVIEW: Review.objects.filter(candidate=OuterRef("task__candidate"), **person),
        Stage.VALIDATION: votes.filter(stage=Stage.VALIDATION),
        Stage.BASELINE: votes.filter(stage=Stage.BASELINE),
        Stage.UNSEEN: votes.filter(stage=Stage.UNSEEN),
        Stage.OBJECTS: ObjectAnswer.objects.filter(frame=OuterRef("task__frame"), **person),
        Stage.GOLD: Vote.objects.filter(gold=OuterRef("task__gold"), **person),
    }
