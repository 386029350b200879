"""Nobody judges their own work (docs/workflow.md#rule-1): checked on the work itself, not on records about it."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.models import Edit, Review, Stage, Vote, VoteState
from annotation.models.stages import CHOICES
from foilworks.core.projects.models import LeakageScope
from foilworks.site.invariants.violation import InvariantViolation, rows

COUNTED_WORK = Q(slot__isnull=False, undone_at=None)


def nobody_reviews_own_work() -> Iterator[InvariantViolation]:
    own_reviews = Review.objects.filter(COUNTED_WORK, candidate__author=F("person"))
    yield from rows(own_reviews, "is by the author of the text that it judges")


def nobody_judges_what_they_made_or_reviewed() -> Iterator[InvariantViolation]:
    counted = Vote.objects.filter(state=VoteState.COUNTED, person__isnull=False)
    for work_kind, work in _hands().items():
        whole_video = Q(item__subtest__project__leakage_scope=LeakageScope.VIDEO) & Exists(work["video"])
        item_alone = Q(item__subtest__project__leakage_scope=LeakageScope.ITEM) & Exists(work["group"])
        yield from rows(counted.filter(whole_video | item_alone), f"is by somebody who {work_kind} it before")


def no_study_by_who_judged() -> Iterator[InvariantViolation]:
    earlier = Vote.objects.filter(
        person=OuterRef("person"),
        item__video=OuterRef("item__video"),
        stage=Stage.VALIDATION,
        created_at__lt=OuterRef("created_at"),
    )
    choices = Vote.objects.filter(state=VoteState.COUNTED, stage__in=CHOICES, person__isnull=False)
    yield from rows(choices.filter(Exists(earlier)), "is a choice of a study on a video that the person judged before")


def nobody_judges_with_and_without_the_clip() -> Iterator[InvariantViolation]:
    counted = Vote.objects.filter(state=VoteState.COUNTED, person__isnull=False)
    seen = counted.filter(person=OuterRef("person"), item=OuterRef("item")).exclude(stage=Stage.UNSEEN)
    message = "is a choice without the clip by somebody who also judged the item with it"
    yield from rows(counted.filter(Exists(seen), stage=Stage.UNSEEN), message)


def _hands() -> dict[str, dict[str, QuerySet]]:
    """Return work on the vote's video, or on its item's group, before the vote."""
    before = {"person": OuterRef("person"), "created_at__lt": OuterRef("created_at")}
    edits, reviews = Edit.objects.filter(**before), Review.objects.filter(**before)
    return {
        "edited": {
            "video": edits.filter(group__caption__video=OuterRef("item__video")),
            "group": edits.filter(group__item=OuterRef("item")),
        },
        "reviewed": {
            "video": reviews.filter(candidate__group__caption__video=OuterRef("item__video")),
            "group": reviews.filter(candidate__group__item=OuterRef("item")),
        },
    }
