"""Count how often each number occurs in a corpus of captions: which counts models have met (ViLMA, Fig. 12).

Counts number words and digits of 1 and above. As in the figure, the articles a and an do not count. 6 to 10 form one
group, and so do numbers above 10.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.text.language.numbers import WORDS
from foilworks.core.text.tokens import words

VERSION = "1"
INPUT = "corpus"
VALUES = {word: value for value, word in enumerate(WORDS) if value}
ADVERBS = {"once": 1, "twice": 2, "thrice": 3}
GROUPS = ("1", "2", "3", "4", "5", "6-10", "over 10")
MAX_DIGITS = 4


def compute(corpus: Sequence[str], *, draws: int = 0, seed: int = 0) -> dict[str, Any]:
    """Return rows: group, count, share of all numbers. "once", "twice" and "thrice" are counted separately (`adverbs`).

    A run of more than four digits (a year with a month, an id) is left out. EvaluationError without text.
    """
    if not corpus:
        raise EvaluationError("there is no text; give at least one caption")
    counts: Counter[str] = Counter()
    adverbs = 0
    n_with_number = 0
    for text in corpus:
        values = [value for word in words(text) if (value := _value(word)) is not None]
        adverbs += sum(word in ADVERBS for word in words(text))
        n_with_number += bool(values)
        counts.update(_group(value) for value in values)
    total = counts.total()
    rows = [{"group": name, "count": counts[name], "share": counts[name] / total if total else None} for name in GROUPS]
    return {
        "rows": rows,
        "n_texts": len(corpus),
        "n_with_number": n_with_number,
        "n_numbers": total,
        "adverbs": adverbs,
    }


def _value(word: str) -> int | None:
    if word.isascii() and word.isdigit() and len(word) <= MAX_DIGITS:
        return int(word) or None
    return VALUES.get(word)


def _group(value: int) -> str:
    return str(value) if value <= 5 else "6-10" if value <= 10 else "over 10"
