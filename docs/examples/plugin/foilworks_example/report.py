"""Report the number of words of captions and foils, per subtest."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from foilworks.plugins import EvaluationError, ItemFacts, words

VERSION = "1"
INPUT = "items"


def compute(data: Sequence[ItemFacts], *, state: str) -> dict[str, Any]:
    """Return plain values and lists of rows; the page shows each list as a table. EvaluationError: no items."""
    groups = defaultdict(list)
    for item in data:
        if state == "all" or item.valid:
            groups[item.subtest].append(item)
    if not groups:
        raise EvaluationError("there are no such items yet; validate some first")
    rows = [
        {
            "subtest": subtest,
            "items": len(group),
            "caption_words": _mean_length([item.caption for item in group]),
            "foil_words": _mean_length([foil for item in group for foil in item.foils]),
        }
        for subtest, group in groups.items()
    ]
    return {"n_items": sum(row["items"] for row in rows), "subtests": rows}


def _mean_length(texts: Sequence[str]) -> float | None:
    return sum(len(words(text)) for text in texts) / len(texts) if texts else None
