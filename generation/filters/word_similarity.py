"""Drops a foil whose new word means much the same as the one it replaces (contrast sets: cosine < .4)."""

from collections.abc import Sequence
from typing import Any

from generation.filters._changes import changes, replaced
from generation.filters._likeness import largest_word_cosine, open_vectors
from generation.records import CaptionInput, Verdict
from text.language.tools import tagger

VERSION = "1"
COSTLY = True


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score: the highest cosine of a replaced word's lemma and its replacement's; words without vectors pass."""
    del others
    vectors = open_vectors(params["vectors"])
    found = replaced(changes(caption.text, foil, tagger(params["tagger"])))
    value = largest_word_cosine(((one.lemma, other.lemma) for one, other in found), vectors)
    passed = value is None or value < params["max"]
    return Verdict(passed, value, "" if passed else f"cosine of words {value:.2f}")
