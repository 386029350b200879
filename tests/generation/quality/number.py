"""Number replacement on ViLMA's easy counting file, in both modes.

The note has the total variation between the counts of the foils and those of the released foils: 0 if they are equally
frequent, 1 if no count is in both.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from generation.grammar.numbers import Count, find_count
from tests.generation.quality import Item, Result, Sample, captions_of, foils_of

METHOD, RECIPE, FILES = "number", "vilma-counting-easy", ("counting-easy*.json",)
USES_TAGGER = False
MODES = ("corrected", "paper")


def measure(items: Mapping[str, Item], tagger: str) -> Iterator[Sample]:
    """Replace every count; with split=easy alone, mode corrected would find no captions to trade with."""
    del tagger
    captions, authors = captions_of(items, video="video_file"), [item["foils"] for item in items.values()]
    for mode in MODES:
        results = foils_of(METHOD, captions, authors, mode=mode)
        apart = total_variation(_counts(results, "foils"), _counts(results, "authors"))
        yield Sample(
            results, f"mode {mode}, split=any", note=f"total variation {apart:.3f}", judged=mode == "corrected"
        )


def _counts(results: Sequence[Result], field: str) -> Counter[int]:
    found = (find_count(text, "exactly") for result in results for text in getattr(result, field))
    return Counter(count.value for count in found if isinstance(count, Count))


def total_variation(one: Mapping[int, int], other: Mapping[int, int]) -> float:
    """Return half of the summed differences of two distributions, given as counts."""
    sums = sum(one.values()) or 1, sum(other.values()) or 1
    return sum(abs(one.get(at, 0) / sums[0] - other.get(at, 0) / sums[1]) for at in one.keys() | other.keys()) / 2
