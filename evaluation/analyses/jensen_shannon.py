"""Measure how far the word distributions of captions and foils are apart, and which words shift most (ViLMA, Sec. B.1).

This definition (and 45 others that were tried) does not reproduce the published values on the released files. Our
values name their base, tokenisation and unit.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evaluation.analyses.analysis_inputs import ItemFacts, valid_part
from evaluation.analyses.words import js_divergence, n_lexical_items, word_counts
from evaluation.errors import EvaluationError

VERSION = "4"
INPUT = "texts"
TOP = 20
NOTE = "ViLMA's published JS and #Lex.it. do not follow from this definition on its released files."


def compute(items: Sequence[ItemFacts], *, base: str = "2", unit: str = "words", top: int = TOP) -> dict[str, Any]:
    """Compute JS in 0..1 (base 2), vocabulary sizes, #Lex.it. in both readings, the `top` most shifted words.

    If verdicts are known, `js_valid` is the same over the valid items; else None.
    """
    if not items:
        raise EvaluationError("there are no items; give at least one caption with a foil")
    captions, foils = word_counts(items, unit)
    valid = word_counts(valid_part(items), unit)
    has_verdicts = any(item.valid is not None for item in items)
    return {
        "js": js_divergence(captions, foils, base),
        "js_valid": js_divergence(*valid, base) if has_verdicts else None,
        "n_lexical_items": n_lexical_items(captions, foils),
        "n_lexical_items_by_size": abs(len(captions) - len(foils)),
        "caption_vocabulary": len(captions),
        "foil_vocabulary": len(foils),
        "top_shifts": top_shifts(captions, foils, top),
        "base": base,
        "unit": unit,
        "n_items": len(items),
        "n_foils": sum(len(item.foils) for item in items),
        "note": NOTE,
    }


def top_shifts(captions: Counter[str], foils: Counter[str], top: int = TOP) -> list[dict[str, Any]]:
    """Return words by the difference of their shares (foil minus caption), largest first, ties by word."""
    n_caption, n_foil = max(1, captions.total()), max(1, foils.total())
    shifts = {word: foils[word] / n_foil - captions[word] / n_caption for word in captions.keys() | foils.keys()}
    return [
        {
            "word": word,
            "caption_share": captions[word] / n_caption,
            "foil_share": foils[word] / n_foil,
            "shift": shifts[word],
        }
        for word in sorted(shifts, key=lambda word: (-abs(shifts[word]), word))[:top]
    ]
