"""How often foils replace words by others, per subtest."""

from collections.abc import Collection, Sequence

from django.db.models import Q

from annotation.queries.foil_cards import STANDS
from foilworks.core.corpus.models import DROPPED_OUT, Foil, Subtest
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from generation.balance.balanced_pairs import Pair
from generation.balance.opposites import Replacement, counts_of, n_owed, replacement_of
from generation.models import Candidate

GONE = (ItemState.INVALID, ItemState.REQUEUED, ItemState.RETRACTED)
# Of a foil that changes more words, no opposite is expected.
MAX_WORDS = 3


def pairs_of(
    subtests: Collection[int], states: Sequence[CandidateState], words: tuple[str, str] = ("", "")
) -> list[tuple[int, Pair]]:
    """Return subtest and pair of each foil of an item, and of each candidate in one of `states`. Two queries.

    `words`: only pairs with the first word in the caption and the second in the foil, or the reverse.
    """
    foils = Foil.objects.filter(item__subtest__in=subtests).exclude(DROPPED_OUT).exclude(item__state__in=GONE)
    candidates = Candidate.objects.filter(group__run__subtest__in=subtests, state__in=states, foil=None)
    foils = foils.filter(_has("item__caption__text", words))
    candidates = candidates.filter(_has("group__caption__text", words))
    rows = [
        *foils.values_list("item__subtest", "item__caption__text", "text").order_by(),
        *candidates.values_list("group__run__subtest", "group__caption__text", "text").order_by(),
    ]
    return [(subtest, Pair("", "", caption, foil)) for subtest, caption, foil in rows]


def _has(caption: str, words: tuple[str, str]) -> Q:
    first, second = words
    forth = Q(**{f"{caption}__icontains": first, "text__icontains": second})
    return forth | Q(**{f"{caption}__icontains": second, "text__icontains": first}) if any(words) else Q()


def replacement_counts(subtest: Subtest, caption: str, text: str) -> tuple[Replacement, int, int, int] | None:
    """Return the replacement that a text makes, how many foils of the subtest make it, how many the opposite one, and
    how many of the opposite are missing; below 0: of this one. None if words only move, or many change."""
    replacement = replacement_of(Pair("", "", caption, text))
    removed, inserted = replacement.removed.split(), replacement.inserted.split()
    if replacement.removed == replacement.inserted or max(len(removed), len(inserted)) > MAX_WORDS:
        return None
    counts = counts_of(
        pair for _subtest, pair in pairs_of([subtest.pk], STANDS, (_longest_word(removed), _longest_word(inserted)))
    )
    n = counts[replacement.removed, replacement.inserted]
    n_back = counts[replacement.inserted, replacement.removed]
    n_missing = n_owed(n - n_back, n + n_back)
    return replacement, n, n_back, n_missing if n > n_back else -n_missing


def _longest_word(words: Sequence[str]) -> str:
    """Return the longest word that a database finds in any case: letters of ASCII."""
    return max((word for word in words if word.isascii() and word.isalnum()), key=len, default="")
