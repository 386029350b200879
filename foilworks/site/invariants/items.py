"""Items: state, verdicts and votes agree, and all parts are about the item's video (docs/workflow.md#term-item)."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from django.db.models import Count, Exists, F, OuterRef, Q

from annotation.models import Stage, Task, Vote, VoteState
from annotation.rules.voting import (
    VoteRule,
    caption_in_doubt,
    is_unanimous,
    item_outcome,
    pair_verdict,
    rule_in_force,
    rule_of_pair,
)
from foilworks.core.corpus.models import Foil, Item, Subtest
from foilworks.core.corpus.rules.states import RENAMED, FoilVerdict, ItemState
from foilworks.core.projects.models import AuditEvent
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows

LIVE = (ItemState.IN_VALIDATION, ItemState.VALID, ItemState.INVALID, ItemState.DISPUTED)
VALIDATION = Q(stage=Stage.VALIDATION, state=VoteState.COUNTED)


def an_item_is_about_one_video() -> Iterator[InvariantViolation]:
    yield from rows(Item.objects.exclude(video=F("caption__video")), "names a different video than its caption")
    paired = Item.objects.filter(proficiency_item__isnull=False)
    other_videos = paired.exclude(proficiency_item__video=F("video"))
    yield from rows(other_videos, "has a proficiency item about a different video")
    kinds = paired.exclude(proficiency_item__subtest__kind=Subtest.Kind.PROFICIENCY)
    yield from rows(kinds, "has a proficiency item from a main subtest")
    yield from rows(Item.objects.filter(foils=None), "has no foil")


def an_item_is_what_its_pairs_say() -> Iterator[InvariantViolation]:
    """Check in_validation while a pair is pending; then valid, invalid or disputed by the subtest's rule."""
    # An old name comes from a process that was not stopped for the update to 0.3.0.
    pairs = Foil.objects.filter(item__state__in=(*LIVE, *RENAMED)).order_by("item_id", "position")
    columns = ("item", "item__state", "item__subtest__valid_when", "item__subtest__foils_enough", "verdict")
    for key, verdict_rows in groupby(pairs.values_list(*columns).iterator(), key=lambda row: row[:4]):
        pk, state, valid_when, enough = key
        rule = VoteRule(0, 0, all_pairs=valid_when == Subtest.ValidWhen.ALL, pairs_enough=enough)
        outcome = item_outcome([row[4] for row in verdict_rows], rule)
        if outcome != state:
            yield InvariantViolation(name_of(Item, pk), f"is {state}; its pairs make it {outcome.value}")
    waiting = Item.objects.filter(state=ItemState.IN_VALIDATION)
    yield from rows(waiting.exclude(decided_at=None, unanimous=None), "is in validation, but has a decision")


def a_pair_is_what_its_votes_say() -> Iterator[InvariantViolation]:
    """Check that a judged pair's verdict follows from its counted votes.

    Except if a researcher has decided the item.
    """
    decisions = AuditEvent.objects.filter(target_type=Item._meta.label_lower, action="adjudicate")
    settled_ids = set(decisions.values_list("target_id", flat=True))
    votes: dict[int, Counter[str]] = {}
    for foil, choice in Vote.objects.filter(VALIDATION, foil__isnull=False).values_list("foil", "choice").iterator():
        votes.setdefault(foil, Counter())[choice] += 1
    tasks = Task.objects.filter(stage=Stage.VALIDATION, item__state__in=LIVE).order_by("pk")
    rules = {subtest.pk: rule_in_force(subtest) for subtest in Subtest.objects.all()}
    columns = ("foil", "foil__verdict", "overlap", "in_full", "item__subtest", "item")
    yield from _choices_with_several_verdicts()
    for foil, verdict, overlap, in_full, subtest, item in tasks.values_list(*columns).iterator():
        counts = votes.get(foil, {})
        follows = pair_verdict(counts, rule_of_pair(rules[subtest], overlap, in_full=in_full))
        if verdict == follows or (follows == FoilVerdict.DISPUTED and str(item) in settled_ids):
            continue
        yield InvariantViolation(name_of(Foil, foil), f"is {verdict}; its votes make it {follows.value}")


def _choices_with_several_verdicts() -> Iterator[InvariantViolation]:
    """Find multiple-choice items, whose votes are about all foils at once, with different verdicts of their foils."""
    choices = Task.objects.filter(stage=Stage.VALIDATION, foils_asked__isnull=False, item__state__in=LIVE)
    verdicts = choices.values("item").annotate(n=Count("item__foils__verdict", distinct=True))
    for row in verdicts.filter(n__gt=1).order_by("item"):
        yield InvariantViolation(name_of(Item, row["item"]), "is one choice, but its foils have different verdicts")


def unanimous_means_every_vote() -> Iterator[InvariantViolation]:
    votes: dict[int, Counter[str]] = {}
    counted = Vote.objects.filter(VALIDATION, item__unanimous=True)
    for item, choice in counted.values_list("item", "choice").iterator():
        votes.setdefault(item, Counter())[choice] += 1
    for pk in Item.objects.filter(unanimous=True, state__in=LIVE).order_by("pk").values_list("pk", flat=True):
        if not is_unanimous([votes.get(pk, {})]):
            yield InvariantViolation(
                name_of(Item, pk), "is marked as unanimous, but not all of its votes chose the caption"
            )


def false_captions_are_flagged() -> Iterator[InvariantViolation]:
    """Find unflagged captions that most validators of a decided item did not see in the video.

    See docs/workflow.md#rule-11.
    """
    votes: dict[tuple[int, int], Counter[str]] = {}
    decided = Vote.objects.filter(VALIDATION, item__caption__flagged_false=False)
    # An item that was retracted before its votes were in was never decided.
    pending = Foil.objects.filter(item=OuterRef("item"), verdict=FoilVerdict.PENDING)
    decided = decided.exclude(Exists(pending))
    for item, caption, choice in decided.values_list("item", "item__caption", "choice").iterator():
        votes.setdefault((item, caption), Counter())[choice] += 1
    for (_, caption), counts in votes.items():
        if caption_in_doubt(counts):
            yield InvariantViolation(f"corpus.caption {caption}", "is in doubt by its votes, but not flagged")


def an_assembled_item_has_its_candidates_foils() -> Iterator[InvariantViolation]:
    """Check that every foil of an item made here is a candidate of its group, with the same text."""
    assembled = Foil.objects.filter(item__candidate_group__isnull=False)
    strangers = assembled.exclude(candidate__group=F("item__candidate_group"))
    yield from rows(strangers, "is of an item made here, but not a candidate of its group")
    yield from rows(
        Foil.objects.filter(candidate__isnull=False).exclude(candidate__text=F("text")),
        "has a different text than its candidate",
    )
    groups = Item.objects.filter(candidate_group__isnull=False).exclude(candidate_group__caption=F("caption"))
    yield from rows(groups, "is from a group about a different caption")
