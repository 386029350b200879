"""Gold counts in nothing, nobody sees it twice, and counts match the answers (docs/workflow.md#rule-8)."""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Count, Exists, F, OuterRef, Q

from annotation.actions.quality.standings import COUNTS, counts_of_vote
from annotation.models import (
    Attempt,
    Edit,
    Ending,
    GoldPair,
    Lease,
    Question,
    Review,
    Slot,
    SlotState,
    Stage,
    Standing,
    Vote,
    VoteState,
)
from annotation.models.stages import stages_shown_as
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows

GOLD = Q(gold__isnull=False)


def gold_counts_in_nothing() -> Iterator[InvariantViolation]:
    """Check that an answer to gold is on no item and no foil, and in a slot of the gold stage."""
    votes = Vote.objects.filter(GOLD)
    yield from rows(votes.filter(Q(foil__isnull=False) | ~Q(stage=Stage.GOLD)), "is on gold and on a foil at once")
    yield from rows(
        votes.filter(slot__isnull=False).exclude(slot__stage=Stage.GOLD), "is on gold in a slot of a different stage"
    )
    yield from rows(Vote.objects.filter(stage=Stage.GOLD, gold=None), "is in the gold stage, but on no gold pair")
    yield from rows(
        Slot.objects.filter(stage=Stage.GOLD, item__isnull=False), "is a slot of the gold stage, but belongs to an item"
    )
    strange = GoldPair.objects.exclude(video__project=F("project"), subtest__project=F("project"))
    yield from rows(strange, "is a gold pair with rows of a different project")


GIVEN_BACK = (Ending.SKIPPED, Ending.EXPIRED, Ending.CANCELLED)


def nobody_sees_gold_twice() -> Iterator[InvariantViolation]:
    """Find gold that a person got twice, unless they returned it unanswered or have undone the answer."""
    kept_leases = Lease.objects.filter(task__stage=Stage.GOLD).exclude(ending__in=GIVEN_BACK)
    leases = kept_leases.values("task", "person").annotate(n=Count("pk"))
    for row in leases.filter(n__gt=1).order_by("task", "person"):
        undone = Vote.objects.filter(gold__tasks=row["task"], person=row["person"], state=VoteState.UNDONE).count()
        if row["n"] > 1 + undone:
            problem = f"was given {row['n']} times to person {row['person']}"
            yield InvariantViolation(f"annotation.task {row['task']}", problem)
    answered = Question.objects.filter(pair=OuterRef("gold"), attempt__person=OuterRef("person"))
    yield from rows(
        Vote.objects.filter(GOLD).filter(Exists(answered)), "is on gold that the person has answered before"
    )


def no_gold_on_what_they_made() -> Iterator[InvariantViolation]:
    before = {"person": OuterRef("person"), "created_at__lt": OuterRef("created_at")}
    edited = Edit.objects.filter(group__caption__video=OuterRef("gold__video"), **before)
    reviewed = Review.objects.filter(candidate__group__caption__video=OuterRef("gold__video"), **before)
    votes = Vote.objects.filter(GOLD, state=VoteState.COUNTED)
    yield from rows(votes.filter(Exists(edited)), "is on gold of a video that the person had edited before")
    yield from rows(votes.filter(Exists(reviewed)), "is on gold of a video that the person had reviewed before")


def paused_validators_have_a_reason_and_no_task() -> Iterator[InvariantViolation]:
    paused = Standing.objects.filter(state=Standing.State.PAUSED)
    yield from rows(paused.filter(Q(paused_at=None) | Q(paused_why="")), "is paused without a time or a reason")
    leased = Slot.objects.filter(
        person=OuterRef("person"),
        project=OuterRef("policy__project"),
        stage__in=stages_shown_as(Stage.VALIDATION),
        state=SlotState.LEASED,
    )
    yield from rows(paused.filter(Exists(leased)), "is paused, but holds a task")
    active = Standing.objects.filter(state=Standing.State.ACTIVE)
    yield from rows(active.exclude(paused_at=None, paused_why=""), "is active, but has a reason for a pause")


def stored_counts_match_votes() -> Iterator[InvariantViolation]:
    counted: dict[int, Counter[str]] = {}
    votes = Vote.objects.filter(standing__isnull=False, created_at__gte=F("standing__counted_from"))
    for vote in votes.exclude(state=VoteState.UNDONE).select_related("gold").iterator():
        counted.setdefault(vote.standing_id, Counter()).update(counts_of_vote(vote))
    for pk, *stored_counts in Standing.objects.order_by("pk").values_list("pk", *COUNTS).iterator():
        recounted = counted.get(pk, Counter())
        wrong = [name for name, number in zip(COUNTS, stored_counts, strict=True) if recounted[name] != number]
        if wrong:
            yield InvariantViolation(
                name_of(Standing, pk), f"has counts that differ from its votes: {', '.join(wrong)}"
            )


def qualified_validators_passed() -> Iterator[InvariantViolation]:
    passed_attempts = Attempt.objects.filter(
        person=OuterRef("person"), project=OuterRef("policy__project"), stage=Stage.QUALIFICATION, passed=True
    )
    qualified = Standing.objects.filter(qualified_at__isnull=False)
    yield from rows(qualified.filter(~Exists(passed_attempts)), "is qualified, but has passed no attempt")
    open_ones = Attempt.objects.filter(finished_at=None).exclude(passed=None)
    yield from rows(open_ones, "is not finished, but judged")
