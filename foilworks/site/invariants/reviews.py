"""Reviews: a second reviewer is another person, and unreviewed candidates are marked (their provenance is released)."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q

from annotation.models import Review
from foilworks.site.invariants.violation import InvariantViolation, rows
from generation.models import Candidate

COUNTED_WORK = Q(slot__isnull=False, undone_at=None)


def a_second_review_is_by_somebody_else() -> Iterator[InvariantViolation]:
    own_reviews = Review.objects.filter(
        COUNTED_WORK, second=False, candidate=OuterRef("candidate"), person=OuterRef("person")
    )
    yield from rows(
        Review.objects.filter(COUNTED_WORK, Exists(own_reviews), second=True),
        "is a second review by the first reviewer",
    )
    yield from rows(
        Review.objects.exclude(slot=None).exclude(second=F("slot__task__second")),
        "is of a different kind than its task",
    )


def what_is_accepted_unreviewed_was_not_reviewed() -> Iterator[InvariantViolation]:
    decided = Review.objects.filter(COUNTED_WORK, second=False, candidate=OuterRef("pk"))
    unreviewed_candidates = Candidate.objects.filter(Exists(decided), unreviewed=True)
    yield from rows(unreviewed_candidates, "is marked as unreviewed, but was reviewed")
