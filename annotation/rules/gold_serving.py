"""Which of a person's pieces are gold, and in which order its texts are shown: drawn by a secret. Pure.

Every piece is drawn by itself. Whoever learns afterwards that a piece was gold, or was not, knows nothing about the
next one: a fixed number per stretch of pieces would make the last of a stretch certain
(docs/decisions/0072-secret-seeds.md).
"""

from collections.abc import Iterable

from annotation.rules.ordering import seeded_share


def gold_is_due(secret: int, person: int, served: int, rate: float) -> bool:
    """Return whether the piece number `served` (0-based) of a person is gold, if `rate` of all pieces is."""
    return seeded_share(secret, "place", person, served) < rate


def gold_caption_first(secret: int, person: int, ordinal: int) -> bool:
    """Return whether the person's piece of gold number `ordinal` (0-based) shows the caption first."""
    return seeded_share(secret, "order", person, ordinal) < 0.5


def pieces_to_come(real: int, gold: int, secret: int, person: int, served: int, rate: float) -> int:
    """Return how many pieces a person is given until `real` tasks are done, with up to `gold` pairs mixed in.

    It falls by one with every piece, whatever that is.
    """
    pieces = 0
    while real > 0:
        is_gold = gold > 0 and gold_is_due(secret, person, served + pieces, rate)
        real, gold, pieces = (real, gold - 1, pieces + 1) if is_gold else (real - 1, gold, pieces + 1)
    return pieces


def pick(secret: int, person: int, ids: Iterable[int], number: int) -> list[int]:
    """Return the next `number` of those that are still to be had, in the order in which this person is given them."""
    return sorted(ids, key=lambda pk: (seeded_share(secret, "pick", person, pk), pk))[:number]
