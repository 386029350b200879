"""Give captions other counts: by trades, so that both numbers of a pair are true equally often, or by quotas."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """A caption that states `value` and could state any of `allowed` instead."""

    id: str
    value: int
    allowed: frozenset[int]
    adverb: bool = False


@dataclass(frozen=True)
class FoilCount:
    """The count of a caption's foil, and whether its source writes it as an adverb (once)."""

    value: int
    adverb: bool | None


Key = tuple[int, frozenset[int]]
Groups = dict[Key, list[Counted]]


def balanced(items: Iterable[Counted], rounds: int, rng: random.Random) -> dict[str, tuple[FoilCount, ...]]:
    """Return up to `rounds` different counts per caption id, by trades: two captions exchange their counts.

    So a replaces a true b as often as b replaces a true a. As many captions are served
    as the counts allow: the most frequent count is paired first if it is more than half of the rest.
    """
    open_items = {item.id: item for item in sorted(items, key=lambda item: item.id)}
    counts_by_id: dict[str, list[FoilCount]] = {id_: [] for id_ in open_items}
    for _ in range(rounds):
        for first, second in _trades(list(open_items.values()), rng):
            for item, partner in ((first, second), (second, first)):
                counts_by_id[item.id].append(FoilCount(partner.value, partner.adverb))
                open_items[item.id] = Counted(item.id, item.value, item.allowed - {partner.value}, item.adverb)
    return {id_: tuple(values) for id_, values in counts_by_id.items() if values}


def _trades(items: list[Counted], rng: random.Random) -> Iterable[tuple[Counted, Counted]]:
    groups: Groups = {}
    rng.shuffle(items)
    for item in items:
        groups.setdefault((item.value, item.allowed), []).append(item)
    trades = []
    while groups:
        first = _draw(groups, _crowded(groups), rng)
        partners = [key for key in groups if first[0] in key[1] and key[0] in first[1]]
        if not partners:
            del groups[first]
            continue
        second = _draw(groups, partners, rng)
        trades.append((groups[first].pop(), groups[second].pop()))
        for key in (first, second):
            if not groups[key]:
                del groups[key]
    return trades


def _crowded(groups: Groups) -> list[Key]:
    """Return the groups of a count that is at least half of the rest, else all groups."""
    sizes: dict[int, int] = {}
    for (value, _), members in groups.items():
        sizes[value] = sizes.get(value, 0) + len(members)
    largest = max(sizes, key=lambda value: sizes[value])
    if 2 * sizes[largest] >= sum(sizes.values()):
        return [key for key in groups if key[0] == largest]
    return list(groups)


def _draw(groups: Groups, keys: list[Key], rng: random.Random) -> Key:
    return rng.choices(keys, weights=[len(groups[key]) for key in keys])[0]


def drawn_by_quota(
    items: Iterable[Counted], weight: Callable[[int], int], rounds: int, rng: random.Random
) -> dict[str, tuple[FoilCount, ...]]:
    """Return up to `rounds` different counts per caption id; each round has the counts in proportion to `weight`.

    A round draws without replacement from as many counts as there are captions, so only rounding and captions that
    cannot state each count change the proportions. Captions with the fewest choices draw first.
    """
    open_items = sorted((item for item in items if item.allowed), key=lambda item: item.id)
    counts_by_id: dict[str, list[int]] = {item.id: [] for item in open_items}
    for _ in range(rounds):
        rng.shuffle(open_items)
        open_counts = {item.id: item.allowed.difference(counts_by_id[item.id]) for item in open_items}
        waiting_ids = sorted(
            (item.id for item in open_items if open_counts[item.id]), key=lambda id_: len(open_counts[id_])
        )
        if not waiting_ids:
            break
        quotas = _quotas(frozenset().union(*open_counts.values()), weight, len(waiting_ids), rng)
        for id_ in waiting_ids:
            # Used up for this caption: its choices exceed their quotas.
            choices = sorted(count for count in open_counts[id_] if quotas[count] > 0)
            weights = [quotas[count] for count in choices]
            if not choices:
                choices = sorted(open_counts[id_])
                weights = [weight(count) for count in choices]
            count = rng.choices(choices, weights=weights)[0]
            quotas[count] -= 1
            counts_by_id[id_].append(count)
    return {id_: tuple(FoilCount(count, None) for count in counts) for id_, counts in counts_by_id.items()}


def _quotas(counts: Collection[int], weight: Callable[[int], int], total: int, rng: random.Random) -> Counter[int]:
    """Return how often each count is given in `total` draws: its share of the weight, with remainders drawn."""
    total_weight = sum(map(weight, counts))
    quotas = Counter({count: total * weight(count) // total_weight for count in sorted(counts)})
    remainders = {count: total * weight(count) % total_weight for count in sorted(counts)}
    for _ in range(total - quotas.total()):
        count = rng.choices(list(remainders), weights=list(remainders.values()))[0]
        quotas[count] += 1
        del remainders[count]
    return quotas
