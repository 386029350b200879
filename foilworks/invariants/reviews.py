"""Reviews: a second one is somebody else's, and what no reviewer saw says so (its provenance is released)."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q

from annotation.models import Review
from foilworks.invariants.violation import Finding, rows
from generation.models import Candidate

STANDS = Q(slot__isnull=False, undone_at=None)


def a_second_review_is_by_somebody_else() -> Iterator[Finding]:
    own = Review.objects.filter(STANDS, second=False, candidate=OuterRef("candidate"), person=OuterRef("person"))
    yield from rows(Review.objects.filter(STANDS, Exists(own), second=True), "is by the first reviewer of the piece")
    yield from rows(Review.objects.exclude(slot=None).exclude(second=F("slot__task__second")), "is of another kind")


def what_is_accepted_unreviewed_was_not_reviewed() -> Iterator[Finding]:
    decided = Review.objects.filter(STANDS, second=False, candidate=OuterRef("pk"))
    seen = Candidate.objects.filter(Exists(decided), unreviewed=True)
    yield from rows(seen, "is called unreviewed, but was reviewed")
