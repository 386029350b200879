"""Captions that were found false: they are corrected or dropped, and nothing else uses them."""

from collections.abc import Iterator

from django.db.models import F, Q

from annotation.models import Task, TaskState
from foilworks.core.corpus.models import GIVEN_UP, Caption, DoubtSettled, Item
from foilworks.site.invariants.items import LIVE
from foilworks.site.invariants.violation import InvariantViolation, rows


def a_revision_takes_the_place_of_a_corrected_caption() -> Iterator[InvariantViolation]:
    revisions = Caption.objects.filter(revises__isnull=False)
    yield from rows(revisions.exclude(video=F("revises__video")), "revises a caption of another video")
    revised_valid = revisions.filter(revises__doubt_settled__in=["", DoubtSettled.CONFIRMED])
    yield from rows(revised_valid, "revises a caption that is still valid")
    corrected = Caption.objects.filter(doubt_settled=DoubtSettled.CORRECTED, revision=None)
    yield from rows(corrected, "is marked as corrected, but nothing revises it")


def nothing_lives_under_a_caption_that_was_given_up() -> Iterator[InvariantViolation]:
    items = Item.objects.filter(state__in=LIVE, caption__doubt_settled__in=GIVEN_UP)
    yield from rows(items, "uses a caption that was dropped")
    about_dropped = Q(item__caption__doubt_settled__in=GIVEN_UP) | Q(group__caption__doubt_settled__in=GIVEN_UP)
    about_dropped |= Q(candidate__group__caption__doubt_settled__in=GIVEN_UP)
    # Frames of an object check are about the video's picture, whatever its caption says.
    yield from rows(
        Task.objects.filter(about_dropped, state=TaskState.OPEN), "asks for work on a caption that was dropped"
    )
