"""Give captions other counts by quotas, as the published files have them."""

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


def drawn_by_quota(
    items: Iterable[Counted], weight: Callable[[int], int], rounds: int, rng: random.Random
) -> dict[str, tuple[int, ...]]:
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
    return {id_: tuple(counts) for id_, counts in counts_by_id.items()}


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
