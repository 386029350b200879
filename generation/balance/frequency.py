"""Frequency matching (ViLMA, Sec. C.6): a word is put into foils at most as often as it stands in the captions' place.

ViLMA removes the candidates whose prepositions occur more often in foils than in captions. Which of them go is not
said; here the later ranks go first and equals are drawn with the seed. One-sided by design: a word that captions have
more often stays so, which balanced selection (generation/balance/selection.py) mends as well.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from generation.balance.records import Chosen, Pair, change


def match(
    pairs: Sequence[Pair],
    *,
    seed: int = 0,
    ranks: Mapping[str, int] | None = None,
    per_group: int = 1,
    fixed: Sequence[Pair] = (),
) -> Chosen:
    """Keep pairs, by rank (`ranks`: id -> place among its caption's foils), then as drawn, while every word they put in
    stays at or below how often the groups' captions lose it. At most `per_group` a group. `fixed` stay and count."""
    room = _room([*pairs, *fixed])
    held = Counter(pair.group for pair in fixed)
    for pair in fixed:
        room.subtract(_put_in(pair))
    generator = random.Random(seed)
    drawn = {pair.id: generator.random() for pair in sorted(pairs, key=lambda pair: pair.id)}
    kept: set[str] = set()
    for pair in sorted(pairs, key=lambda pair: ((ranks or {}).get(pair.id, 0), drawn[pair.id], pair.id)):
        wanted = _put_in(pair)
        if held[pair.group] < per_group and all(room[word] >= times for word, times in wanted.items()):
            room.subtract(wanted)
            held[pair.group] += 1
            kept.add(pair.id)
    groups = {pair.group for pair in pairs}
    return Chosen(
        tuple(pair.id for pair in pairs if pair.id in kept),
        tuple(pair.id for pair in pairs if pair.id not in kept),
        min(len(pairs), per_group * len(groups)),
    )


def _room(pairs: Sequence[Pair]) -> Counter[str]:
    """word -> in how many groups some foil replaces it: the distribution of the captions, whatever is kept."""
    replaced: dict[str, Counter[str]] = {}
    for pair in pairs:
        lost = Counter({word: times for word, times in change(pair.caption, pair.foil).items() if times > 0})
        replaced[pair.group] = replaced.get(pair.group, Counter()) | lost
    total: Counter[str] = Counter()
    for lost in replaced.values():
        total += lost
    return total


def _put_in(pair: Pair) -> Counter[str]:
    return Counter({word: -times for word, times in change(pair.caption, pair.foil).items() if times < 0})
