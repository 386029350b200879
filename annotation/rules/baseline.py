"""The human baseline: one choice among the shuffled texts of an item.

Feint6K shows six (Feint6K, Sec. 3.3), the contrast sets five (contrast sets, Sec. D).

Pure. A text is named by its foil's id, the caption by CAPTION.
"""

from collections.abc import Sequence

from annotation.rules.ordering import seeded_share

CAPTION = 0
# The keys 1 to 9 answer.
MAX_TEXTS = 9


def order_shown(seed: object, item: int, person: int, foils: Sequence[int]) -> list[int]:
    """Return the texts of the item in the order in which this person sees them: shuffled by (item, person).

    The seed is secret. The caption's place is independent of its place in every other item and for everybody else
    (docs/decisions/0072-secret-seeds.md).
    """
    return sorted((CAPTION, *foils), key=lambda text: seeded_share(seed, "texts", item, person, text))


def chosen_text(order: Sequence[int], answer: object) -> int | None:
    """Return the text at place 1 to n (a number or its digits) in the order shown; None for anything else."""
    text = str(answer)
    if not text.isascii() or not text.isdecimal() or len(text) > 2 or not 1 <= int(text) <= len(order):
        return None
    return order[int(text) - 1]


def place_of(order: Sequence[int], foil: int | None) -> int:
    """Return the answer 1 to n that chose the foil, or the caption (None): the inverse of chosen_text."""
    return order.index(CAPTION if foil is None else foil) + 1


def drawn(names: Sequence[int], size: int | None, seed: int) -> list[int]:
    """Draw `size` of the ids by the seed (None or too many: all), in the order of the draw."""
    shuffled = sorted(names, key=lambda name: (seeded_share(seed, "sample", name), name))
    return shuffled[:size]
