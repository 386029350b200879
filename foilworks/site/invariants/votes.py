"""Votes: their person, pair, number and order (docs/workflow.md#rules, from docs/workflow.md#rule-0 on)."""

from collections.abc import Iterator

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, Sum, When

from annotation.models import Choice, Lease, SlotState, Stage, Task, TaskState, Vote, VoteState
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows

BY_PEOPLE = Q(source=Vote.Source.PERSON)
COUNTED = Q(state=VoteState.COUNTED)


def votes_say_whose_they_are() -> Iterator[InvariantViolation]:
    """Check that a person's vote has person, order and pair, and a file's vote no person and no slot."""
    votes = Vote.objects.filter(BY_PEOPLE)
    yield from rows(votes.filter(person=None), "is a person's vote without a person")
    judged = votes.filter(stage=Stage.VALIDATION)
    yield from rows(judged.filter(Q(foil=None) | Q(caption_first=None)), "lacks its pair or its order")
    yield from rows(votes.filter(choice=Choice.OTHER), "has the choice 'other', which only files may have")
    yield from rows(Vote.objects.exclude(foil=None).exclude(foil__item=F("item")), "is on a foil of a different item")
    files = Vote.objects.filter(source=Vote.Source.IMPORT)
    yield from rows(files.filter(Q(person__isnull=False) | Q(slot__isnull=False)), "is from a file, but has a person")


def one_vote_a_person_in_an_item() -> Iterator[InvariantViolation]:
    live = Vote.objects.exclude(state=VoteState.UNDONE).filter(person__isnull=False, item__isnull=False)
    twice = live.values("item", "stage", "person").annotate(n=Count("pk")).filter(n__gt=1)
    for row in twice.order_by("item", "person"):
        problem = f"person {row['person']} has {row['n']} votes in the stage {row['stage']}"
        yield InvariantViolation(f"corpus.item {row['item']}", problem)


def counted_votes_have_their_place() -> Iterator[InvariantViolation]:
    """Check that a counted vote fills one slot of its own person, in a task about its pair."""
    counted = Vote.objects.filter(BY_PEOPLE & COUNTED)
    yield from rows(counted.filter(slot=None), "counts without a slot")
    about_same_pair = Q(slot__item=F("item")) | Q(slot__task__gold=F("gold"))
    in_own_slot = about_same_pair & Q(slot__state=SlotState.DONE, slot__person=F("person"), slot__stage=F("stage"))
    yield from rows(counted.exclude(slot=None).exclude(in_own_slot), "counts in a slot of another person")
    other_pair = counted.filter(foil__isnull=False, slot__task__foil__isnull=False).exclude(slot__task__foil=F("foil"))
    yield from rows(other_pair, "counts in a task about a different pair")
    twice = counted.exclude(slot=None).values("slot").annotate(n=Count("pk")).filter(n__gt=1)
    for row in twice.order_by("slot"):
        yield InvariantViolation(f"annotation.slot {row['slot']}", f"holds {row['n']} counted votes")


def no_task_counts_more_than_its_overlap() -> Iterator[InvariantViolation]:
    counted = Vote.objects.filter(BY_PEOPLE & COUNTED, slot__isnull=False, gold=None)
    sums = counted.values("slot__task", "slot__task__overlap").annotate(n=Count("pk"))
    for row in sums.filter(n__gt=F("slot__task__overlap")).order_by("slot__task"):
        problem = f"counts {row['n']} votes, its overlap is {row['slot__task__overlap']}"
        yield InvariantViolation(name_of(Task, row["slot__task"]), problem)


def the_caption_is_not_always_in_the_same_place() -> Iterator[InvariantViolation]:
    """Check that the votes of a full task have both orders.

    Late and reinstated votes may have the order of a different slot.
    """
    first = Case(When(caption_first=True, then=1), default=0, output_field=IntegerField())
    votes = Vote.objects.filter(BY_PEOPLE & COUNTED, stage=Stage.VALIDATION, late=False)
    full = votes.filter(slot__task__state=TaskState.DONE, slot__task__overlap__gte=2).values("slot__task")
    sums = full.annotate(n=Count("pk"), first=Sum(first)).filter(n=F("slot__task__overlap"))
    for row in sums.filter(Q(first=0) | Q(first=F("n"))).order_by("slot__task"):
        if _moved(row["slot__task"]):
            continue
        yield InvariantViolation(name_of(Task, row["slot__task"]), "showed the caption in the same position every time")


def _moved(task: int) -> bool:
    """Return whether a vote of the task is in a slot that its person had no lease on, after it was reinstated."""
    leased = Lease.objects.filter(task=task, slot=OuterRef("slot"), person=OuterRef("person"))
    return Vote.objects.filter(BY_PEOPLE & COUNTED, ~Exists(leased), slot__task=task).exists()
