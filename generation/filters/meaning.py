"""The contrast sets' rule of meaning as one filter: an antonym, OR other enough in words AND as sentences (3.2)."""

from collections.abc import Sequence
from typing import Any

from generation.filters import antonym
from generation.filters._changes import changes, replaced
from generation.filters._likeness import largest_word_cosine, open_vectors, sentence_cosines
from generation.records import CaptionInput, Case, Verdict
from text.language.tools import tagger

VERSION = "1"
COSTLY = True


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    return judge_many([Case(caption, foil, tuple(others))], params=params)[0]


def judge_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Verdict]:
    """Score: the cosine of caption and foil, None for antonyms, which no encoder is asked about."""
    tags = tagger(params["tagger"])
    vectors = open_vectors(params["vectors"])
    pairs = [list(replaced(changes(case.caption.text, case.foil, tags))) for case in cases]
    verdicts: list[Verdict | None] = [
        Verdict(True, None, "an antonym") if any(antonym.are_opposites(*pair) for pair in found) else None
        for found in pairs
    ]
    left = [at for at, verdict in enumerate(verdicts) if verdict is None]
    cosines = dict(zip(left, sentence_cosines([cases[at] for at in left], params) if left else (), strict=True))
    words = [largest_word_cosine(((one.lemma, other.lemma) for one, other in found), vectors) for found in pairs]
    return [verdict or _verdict(cosines[at], words[at], params) for at, verdict in enumerate(verdicts)]


def _verdict(sentence: float, word: float | None, params: dict[str, Any]) -> Verdict:
    why = [f"cosine {sentence:.2f}"] if sentence >= params["sentence_max"] else []
    if word is not None and word >= params["word_max"]:
        why.append(f"cosine of words {word:.2f}")
    return Verdict(not why, sentence, "; ".join(why))
