"""Why nothing was made, counted. Reasons can name a caption's own words; a page lists the most frequent ones."""

from collections import Counter

MAX_REASONS = 30
OTHERS = "other reasons"


def most_frequent(counts: Counter[str]) -> dict[str, int]:
    """The most frequent ones and how many others; the sum stays, also of counts that were cut before."""
    kept = dict(Counter({why: n for why, n in counts.items() if why != OTHERS}).most_common(MAX_REASONS))
    others = counts.total() - sum(kept.values())
    return {**kept, OTHERS: others} if others else kept
