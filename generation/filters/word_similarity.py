"""Drop a foil whose new word has nearly the same meaning as the old one (contrast sets, Sec. A.3: cosine < .4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.revisions import file_hash
from foilworks.core.text.language.tools import tagger
from generation.filters._changes import changes, replaced
from generation.filters._likeness import largest_word_cosine, open_vectors
from generation.records import Case, Measure, Verdict

VERSION = "2"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {"vectors": file_hash(params["vectors"]), "tagger": tagger(params["tagger"]).name}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"cosine": the largest of a replaced lemma and its replacement, None without vectors} per case."""
    vectors, tags = open_vectors(params["vectors"]), tagger(params["tagger"])
    replaced_words = [list(replaced(changes(case.caption.text, case.foil, tags))) for case in cases]
    return [
        {"cosine": largest_word_cosine(((word.lemma, replacement.lemma) for word, replacement in pairs), vectors)}
        for pairs in replaced_words
    ]


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by the cosine; it passes below params["max"], or without a vector."""
    value = measure["cosine"]
    passed = value is None or value < params["max"]
    return Verdict(passed, value, "" if passed else f"cosine of words {value:.2f}")
