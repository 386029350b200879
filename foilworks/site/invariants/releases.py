"""Releases have their frozen content, and scores are numbers (docs/workflow.md#term-release)."""

import math
from collections.abc import Iterator

from django.db.models import Count, Max, Q

from evaluation.scoring.models import Score
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.release_records import hash_of
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows


def a_release_is_its_hash() -> Iterator[InvariantViolation]:
    for release in Release.objects.order_by("pk"):
        members = ReleaseItem.objects.filter(release=release).order_by("position")
        positioned = list(members.values_list("position", "record"))
        if len(positioned) != release.n_items or [position for position, _ in positioned] != list(
            range(len(positioned))
        ):
            problem = f"has {len(positioned)} items in its list, not {release.n_items} in a row"
            yield InvariantViolation(name_of(Release, release.pk), problem)
        public = [record for position, record in positioned if position < release.n_public]
        public_rows = members.filter(is_private=False).aggregate(n=Count("pk"), last=Max("position"))
        if public_rows["n"] != release.n_public or (public_rows["n"] and public_rows["last"] != public_rows["n"] - 1):
            yield InvariantViolation(name_of(Release, release.pk), "does not list its public items first")
        if release.n_private and hash_of(public) != release.public_hash:
            yield InvariantViolation(name_of(Release, release.pk), "has public content that differs from its hash")
        if hash_of(record for _, record in positioned) != release.content_hash:
            yield InvariantViolation(name_of(Release, release.pk), "has content that differs from its hash")


def scores_are_numbers() -> Iterator[InvariantViolation]:
    odd = Q(value=math.inf) | Q(value=-math.inf) | Q(value=math.nan)
    yield from rows(Score.objects.filter(odd), "is not a finite number")
