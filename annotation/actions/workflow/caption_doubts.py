"""Flag a caption as doubtful if most validators of a decided item did not see it in the video.

See docs/workflow.md#rule-11.
"""

from collections import Counter
from collections.abc import Collection
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Stage, Vote, VoteState
from annotation.rules.voting import caption_in_doubt
from foilworks.core.corpus.models import Caption, DoubtSettled, Foil
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.projects.sql.prepared_queries import Prepared


def _locked(**filters: Any) -> QuerySet:
    rows = Caption.objects.select_for_update(no_key=True).filter(**filters).order_by("pk")
    return rows.values_list("pk", "flagged_false", "doubt_settled")


def _votes(**filters: Any) -> QuerySet:
    pending = Foil.objects.filter(item=OuterRef("item"), verdict=FoilVerdict.PENDING)
    votes = Vote.objects.filter(stage=Stage.VALIDATION, state=VoteState.COUNTED, **filters)
    return votes.exclude(Exists(pending)).values_list("item__caption", "item", "choice")


# The last vote on an item asks about one caption.
_LOCKED, _VOTES = Prepared(_locked), Prepared(lambda caption: _votes(item__caption=caption))


def flag_captions(captions: Collection[int], decided: Collection[int] = ()) -> None:
    """Flag or unflag these captions (ids) by the counted votes on their decided items.

    A confirmed caption needs a new decision if an item `decided` just now (ids) doubts it. Locks the captions' rows
    before it reads votes: two items of one caption, decided at once, would miss each other's votes. Lock items before
    captions, to prevent deadlocks.
    """
    single = next(iter(captions)) if len(captions) == 1 else None
    flagged_rows = list(_locked(pk__in=captions)) if single is None else _LOCKED.all(pk=single)
    doubting = _doubting_items(captions)
    for doubt in (True, False):
        changed_captions = [pk for pk, flag, _settled in flagged_rows if doubt == (pk in doubting) != flag]
        if changed_captions:
            Caption.objects.filter(pk__in=changed_captions).update(flagged_false=doubt)
    confirmed = [pk for pk, _flag, settled in flagged_rows if settled == DoubtSettled.CONFIRMED]
    newly_doubted = [pk for pk in confirmed if not doubting.get(pk, set()).isdisjoint(decided)]
    if newly_doubted:
        Caption.objects.filter(pk__in=newly_doubted).update(doubt_settled="")


def _doubting_items(captions: Collection[int]) -> dict[int, set[int]]:
    """Return the decided items whose votes put their caption in doubt, by the caption.

    An item that left validation before all votes were in was never decided.
    """
    single = next(iter(captions)) if len(captions) == 1 else None
    votes = _votes(item__caption__in=captions) if single is None else _VOTES.all(caption=single)
    counts: dict[tuple[int, int], Counter[str]] = {}
    for caption, item, choice in votes:
        counts.setdefault((caption, item), Counter())[choice] += 1
    doubting_items: dict[int, set[int]] = {}
    for (caption, item), of_item in counts.items():
        if caption_in_doubt(of_item):
            doubting_items.setdefault(caption, set()).add(item)
    return doubting_items
