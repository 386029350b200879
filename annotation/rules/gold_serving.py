"""Draw which of a person's tasks are gold, and the order of their texts, by a secret. Pure.

Every task is drawn independently. A person who learns later that a task was gold, or was not, knows nothing about the
next one: a fixed number per block of tasks would make the last of a block certain
(docs/decisions/0072-secret-seeds.md).
"""

from collections.abc import Iterable

from annotation.rules.ordering import seeded_share


def gold_is_due(secret: int, person: int, served: int, rate: float) -> bool:
    """Return whether the person's task number `served` (0-based) is gold, if `rate` of all tasks is."""
    return seeded_share(secret, "place", person, served) < rate


def gold_caption_first(secret: int, person: int, ordinal: int) -> bool:
    """Return whether the person's gold task number `ordinal` (0-based) shows the caption first."""
    return seeded_share(secret, "order", person, ordinal) < 0.5


def pieces_to_come(real: int, gold: int, secret: int, person: int, served: int, rate: float) -> int:
    """Return the person's number of tasks until `real` ones are done, with up to `gold` pairs mixed in.

    It falls by one with every task, gold or not.
    """
    pieces = 0
    while real > 0:
        is_gold = gold > 0 and gold_is_due(secret, person, served + pieces, rate)
        real, gold, pieces = (real, gold - 1, pieces + 1) if is_gold else (real - 1, gold, pieces + 1)
    return pieces


def pick(secret: int, person: int, ids: Iterable[int], number: int) -> list[int]:
    """Return the next `number` of the available ones, in this person's order."""
    return sorted(ids, key=lambda pk: (seeded_share(secret, "pick", person, pk), pk))[:number]
