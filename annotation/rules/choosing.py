"""One judgement of all texts of a multiple-choice item: which of them is true of the video (contrast sets, Sec. D.1).

Pure. A text is named by its foil's id, the caption by CAPTION, as in the human baseline.
"""

from collections.abc import Sequence

from annotation.rules import baseline, voting
from annotation.rules.baseline import CAPTION
from annotation.rules.voting import BOTH, CANNOT_TELL, FOIL, NEITHER

# The answers beside a number: no text is true, several are, and the validator cannot tell.
WORDS = (NEITHER, BOTH, CANNOT_TELL)


def order_shown(seed: object, item: int, person: int, foils: Sequence[int], key: int, first: bool) -> list[int]:
    """Return the texts in the order in which this person sees them.

    Shuffled by (item, person); the caption then changes places with the foil `key` if it must be before it (`first`)
    or after it and is not. So the slots of a task have opposite orders of these two, as in a judgement of a pair, and
    every order is equally likely.
    """
    order = baseline.order_shown(seed, item, person, foils)
    caption_index, foil_index = order.index(CAPTION), order.index(key)
    if (caption_index < foil_index) != first:
        order[caption_index], order[foil_index] = order[foil_index], order[caption_index]
    return order


def parse_choice(order: Sequence[int], answer: object) -> tuple[str, int | None] | None:
    """Return the truth-coded choice and the place of the chosen text (None for a word); None for anything else."""
    if isinstance(answer, str) and answer in WORDS:
        return answer, None
    text = baseline.chosen_text(order, answer)
    if text is None:
        return None
    return (voting.CAPTION if text == CAPTION else FOIL), baseline.place_of(order, text or None)


def chosen_text(order: Sequence[int], position: int | None) -> int | None:
    """Return the foil's id, or CAPTION, at the place that was chosen; None if no text was."""
    return None if position is None else order[position - 1]
