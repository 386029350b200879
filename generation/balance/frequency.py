"""Frequency matching (ViLMA, Sec. C.6): a word is inserted into foils at most as often as it is replaced in captions.

ViLMA removes the candidates whose prepositions occur more often in foils than in captions. It does not say which of
them; here lower ranks are removed first, and ties are drawn with the seed. One-sided by design: a word that is more
frequent in captions stays so, which balanced selection (generation/balance/selection.py) corrects as well.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from generation.balance.balanced_pairs import Pair, PairSelection, change


def match(
    pairs: Sequence[Pair],
    *,
    seed: int = 0,
    ranks: Mapping[str, int] | None = None,
    per_group: int = 1,
    fixed: Sequence[Pair] = (),
) -> PairSelection:
    """Choose pairs by rank (`ranks`: id -> rank in its caption), then at random, while every word they insert
    occurs at most as often as it is replaced. At most `per_group` per group. `fixed` pairs stay and count."""
    room = _room([*pairs, *fixed])
    group_counts = Counter(pair.group for pair in fixed)
    for pair in fixed:
        room.subtract(_put_in(pair))
    generator = random.Random(seed)
    draw_of_pair = {pair.id: generator.random() for pair in sorted(pairs, key=lambda pair: pair.id)}
    selected_ids: set[str] = set()
    for pair in sorted(pairs, key=lambda pair: ((ranks or {}).get(pair.id, 0), draw_of_pair[pair.id], pair.id)):
        inserted_words = _put_in(pair)
        if group_counts[pair.group] < per_group and all(room[word] >= times for word, times in inserted_words.items()):
            room.subtract(inserted_words)
            group_counts[pair.group] += 1
            selected_ids.add(pair.id)
    groups = {pair.group for pair in pairs}
    return PairSelection(
        tuple(pair.id for pair in pairs if pair.id in selected_ids),
        tuple(pair.id for pair in pairs if pair.id not in selected_ids),
        min(len(pairs), per_group * len(groups)),
    )


def _room(pairs: Sequence[Pair]) -> Counter[str]:
    """Return word -> number of groups in which a foil replaces it: the captions' distribution, whatever is chosen."""
    replaced: dict[str, Counter[str]] = {}
    for pair in pairs:
        replaced_words = Counter({word: times for word, times in change(pair.caption, pair.foil).items() if times > 0})
        replaced[pair.group] = replaced.get(pair.group, Counter()) | replaced_words
    total: Counter[str] = Counter()
    for replaced_words in replaced.values():
        total += replaced_words
    return total


def _put_in(pair: Pair) -> Counter[str]:
    return Counter({word: -times for word, times in change(pair.caption, pair.foil).items() if times < 0})
