"""Count the words of captions and foils, and measure how far the two distributions are apart (ViLMA, Sec. B.1)."""

import math
from collections import Counter
from collections.abc import Iterable

from evaluation.analyses.analysis_inputs import ItemFacts, ProficiencyFacts
from evaluation.errors import EvaluationError
from foilworks.core.text.diff import diff_edits
from foilworks.core.text.quoting import quoted
from foilworks.core.text.tokens import WordSpan, word_spans, words

BASES = {"2": 2.0, "e": math.e}
UNITS = ("words", "changed")

Facts = ItemFacts | ProficiencyFacts


def word_counts(items: Iterable[Facts], unit: str = "words") -> tuple[Counter[str], Counter[str]]:
    """Count caption words and foil words. A caption counts once per item, however many foils it has.

    `words`: all words. `changed`: the words of the caption that a foil replaces, and the new words of each foil.
    """
    if unit not in UNITS:
        raise EvaluationError(f"unknown unit {quoted(unit)}; choose one of: {', '.join(UNITS)}")
    count = _count_all if unit == "words" else _count_changed
    captions: Counter[str] = Counter()
    foils: Counter[str] = Counter()
    for item in items:
        count(item, captions, foils)
    return captions, foils


def _count_all(item: Facts, captions: Counter[str], foils: Counter[str]) -> None:
    captions.update(words(item.caption))
    for foil in item.foils:
        foils.update(words(foil))


def _count_changed(item: Facts, captions: Counter[str], foils: Counter[str]) -> None:
    caption = item.caption.lower()
    replaced: set[WordSpan] = set()
    spans = word_spans(caption)
    for foil in item.foils:
        lowered, shift = foil.lower(), 0
        spans_of_foil = word_spans(lowered)
        for edit in diff_edits(caption, lowered, whole_words=True):
            replaced.update(_overlapping_spans(spans, edit.start, edit.end))
            start, end = edit.start + shift, edit.start + shift + len(edit.target)
            foils.update(word for _, _, word in _overlapping_spans(spans_of_foil, start, end))
            shift += len(edit.target) - (edit.end - edit.start)
    captions.update(word for _, _, word in replaced)


def _overlapping_spans(spans: Iterable[WordSpan], start: int, end: int) -> list[WordSpan]:
    """Return the words that share a character with `start:end`: whole words, even if an edit is inside one."""
    return [span for span in spans if span[0] < end and start < span[1]]


def js_divergence(captions: Counter[str], foils: Counter[str], base: str = "2") -> float | None:
    """Compute sqrt((KL(f || m) + KL(c || m)) / 2) of the normalised counts; None if either side has no word.

    0 for equal distributions; the ceiling, for disjoint ones, is 1 in base 2 and sqrt(ln 2) in base e.
    """
    if base not in BASES:
        raise EvaluationError(f"unknown base {quoted(base)}; choose one of: {', '.join(BASES)}")
    n_caption, n_foil = captions.total(), foils.total()
    if not n_caption or not n_foil:
        return None
    terms = []
    for word in captions.keys() | foils.keys():
        c, f = captions[word] / n_caption, foils[word] / n_foil
        middle = (c + f) / 2
        terms += [share * math.log(share / middle) for share in (c, f) if share]
    # fsum: the value does not depend on the order of words; rounding can leave a tiny negative number.
    return math.sqrt(max(0.0, math.fsum(terms) / 2 / math.log(BASES[base])))


def n_lexical_items(captions: Counter[str], foils: Counter[str]) -> int:
    """Count the words on one side only (the symmetric difference of the vocabularies)."""
    return len(captions.keys() ^ foils.keys())
