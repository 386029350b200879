"""Releases have their frozen content, and scores are numbers (docs/workflow.md#term-release)."""

import math
from collections.abc import Iterator

from django.db.models import Q

from corpus.models import Release, ReleaseItem
from corpus.release_records import hash_of
from evaluation.scoring.models import Score
from foilworks.invariants.violation import InvariantViolation, name_of, rows


def a_release_is_its_hash() -> Iterator[InvariantViolation]:
    for release in Release.objects.order_by("pk"):
        members = ReleaseItem.objects.filter(release=release).order_by("position")
        found = list(members.values_list("position", "record"))
        if len(found) != release.n_items or [place for place, _ in found] != list(range(len(found))):
            problem = f"has {len(found)} items in its list, not {release.n_items} in a row"
            yield InvariantViolation(name_of(Release, release.pk), problem)
        if hash_of(record for _, record in found) != release.content_hash:
            yield InvariantViolation(name_of(Release, release.pk), "has content that differs from its hash")


def scores_are_numbers() -> Iterator[InvariantViolation]:
    odd = Q(value=math.inf) | Q(value=-math.inf) | Q(value=math.nan)
    yield from rows(Score.objects.filter(odd), "is not a finite number")
