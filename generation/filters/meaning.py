"""Keep foils that contain an antonym, OR differ enough in words AND in meaning (contrast sets, Secs. 3.2 and A.3)."""

from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.catalogue.registry import ENCODER
from foilworks.core.hub.revisions import file_hash, fingerprint
from foilworks.core.text.language.tools import tagger
from generation.filters import antonym
from generation.filters._changes import changes, replaced
from generation.filters._likeness import largest_word_cosine, open_vectors, sentence_cosines
from generation.records import Case, Measure, Verdict

VERSION = "2"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {
        "model": fingerprint(params["model"], ENCODER),
        "vectors": file_hash(params["vectors"]),
        "tagger": tagger(params["tagger"]).name,
    }


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"antonym": 1 or 0, "sentence": cosine of caption and foil, "word": largest cosine of words or None}.

    Antonyms are not encoded: their "sentence" is None.
    """
    tags = tagger(params["tagger"])
    vectors = open_vectors(params["vectors"])
    replaced_words = [list(replaced(changes(case.caption.text, case.foil, tags))) for case in cases]
    has_antonym = [any(antonym.are_opposites(*pair) for pair in word_pairs) for word_pairs in replaced_words]
    remaining = [index for index, is_opposite in enumerate(has_antonym) if not is_opposite]
    sentence_measures = sentence_cosines([cases[index] for index in remaining], params, "sentence") if remaining else []
    cosines = dict(zip(remaining, sentence_measures, strict=True))
    word_cosines = [
        largest_word_cosine(((word.lemma, replacement.lemma) for word, replacement in word_pairs), vectors)
        for word_pairs in replaced_words
    ]
    return [
        {"antonym": float(is_opposite), "sentence": None, **cosines.get(index, {}), "word": word_cosines[index]}
        for index, is_opposite in enumerate(has_antonym)
    ]


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by the cosine of caption and foil, None for antonyms."""
    if measure["antonym"]:
        return Verdict(True, None, "an antonym")
    sentence, word = measure["sentence"] or 0.0, measure["word"]
    why = [f"cosine {sentence:.2f}"] if sentence >= params["sentence_max"] else []
    if word is not None and word >= params["word_max"]:
        why.append(f"cosine of words {word:.2f}")
    return Verdict(not why, sentence, "; ".join(why))
