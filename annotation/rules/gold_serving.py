"""Where gold stands among a person's pieces, and in which order its texts: seeded by a secret. Pure.

A person's pieces are cut into stretches of 1/rate pieces, and each stretch has one piece of gold, at a place that the
secret determines: the rate holds exactly, and nobody who lacks the secret can tell where the next one stands.
"""

from collections.abc import Iterable

from annotation.rules.ordering import seeded_share


def stretch_of(served: int, rate: float) -> int:
    """The stretch in which the piece number `served` (0-based) of a person stands."""
    return int(served * rate)


def gold_is_due(secret: int, person: int, served: int, rate: float, last_stretch: int) -> bool:
    """Whether the person's next piece is gold. `last_stretch`: the last one that had its gold, -1 for none."""
    if rate <= 0:
        return False
    stretch = stretch_of(served, rate)
    if stretch <= last_stretch:
        return False
    return served >= int((stretch + seeded_share(secret, "place", person, stretch)) / rate)


def gold_caption_first(secret: int, person: int, ordinal: int) -> bool:
    """Of each two pieces of gold in a row, one shows the caption first; which, the secret says."""
    return (seeded_share(secret, "order", person, ordinal // 2) < 0.5) != (ordinal % 2 == 1)


def pick(secret: int, person: int, ids: Iterable[int]) -> int | None:
    """The one that comes next for this person, out of those that are still to be had."""
    return min(ids, key=lambda pk: (seeded_share(secret, "pick", person, pk), pk), default=None)
