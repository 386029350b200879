"""Flag a caption as doubtful if most validators of a decided item did not see it in the video.

See docs/workflow.md#rule-11.
"""

from collections import Counter
from collections.abc import Collection

from django.db.models import Exists, OuterRef

from annotation.models import Stage, Vote, VoteState
from annotation.rules.voting import caption_in_doubt
from corpus.models import Caption, DoubtSettled, Foil
from corpus.rules.states import FoilVerdict


def flag_captions(captions: Collection[int], decided: Collection[int] = ()) -> None:
    """Flag these captions (ids), or take the flag back, as the counted votes on their decided items have it now.

    A caption that was confirmed is to be settled again where an item that is `decided` just now (ids) says so.
    The captions' rows are locked before votes are read, until the transaction ends: of two items of one caption that
    are decided at once, each would miss the other's votes. Whoever locks items does so before, so that nobody waits in
    a ring.
    """
    rows = Caption.objects.select_for_update(no_key=True).filter(pk__in=captions).order_by("pk")
    stored = list(rows.values_list("pk", "flagged_false", "doubt_settled"))
    doubting = _doubting_items(captions)
    for doubt in (True, False):
        changed = [pk for pk, flag, _settled in stored if doubt == (pk in doubting) != flag]
        if changed:
            Caption.objects.filter(pk__in=changed).update(flagged_false=doubt)
    confirmed = [pk for pk, _flag, settled in stored if settled == DoubtSettled.CONFIRMED]
    again = [pk for pk in confirmed if not doubting.get(pk, set()).isdisjoint(decided)]
    if again:
        Caption.objects.filter(pk__in=again).update(doubt_settled="")


def _doubting_items(captions: Collection[int]) -> dict[int, set[int]]:
    """Decided items whose votes put their caption in doubt, by the caption. One that was taken out of validation before
    its votes were in was never decided."""
    pending = Foil.objects.filter(item=OuterRef("item"), verdict=FoilVerdict.PENDING)
    votes = Vote.objects.filter(item__caption__in=captions, stage=Stage.VALIDATION, state=VoteState.COUNTED)
    counts: dict[tuple[int, int], Counter[str]] = {}
    for caption, item, choice in votes.exclude(Exists(pending)).values_list("item__caption", "item", "choice"):
        counts.setdefault((caption, item), Counter())[choice] += 1
    found: dict[int, set[int]] = {}
    for (caption, item), of_item in counts.items():
        if caption_in_doubt(of_item):
            found.setdefault(caption, set()).add(item)
    return found
