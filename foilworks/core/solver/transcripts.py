"""Answer questions with their texts and what is spoken in their videos, beside the same solver without the speech.

Both learn on the same folds. Transcripts are read as texts, without answers. What a spoken word tells is learned in
training folds only.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foilworks.core.solver.design import NUMBER_FAMILIES, Design, NumberFamily
from foilworks.core.solver.folds import Structure, structure_of
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.learner import N_FOLDS
from foilworks.core.solver.option_features import ARTICLES, Columns
from foilworks.core.solver.passes import answer_tiers, spread_folds
from foilworks.core.solver.questions import Answers, Question
from foilworks.core.solver.solution import HEADLINE, Tier
from foilworks.core.text.tokens import words

Floats = NDArray[np.float64]
SPEECH = "words of the transcript"
# Words of one transcript that are read, and those around the words of a question.
MAX_SPOKEN, WINDOW = 20_000, 40
FEATURES = (
    "share of its words that are spoken",
    "rarest word that is spoken",
    "weight of its spoken words",
    "how often its words are spoken",
    "pairs of its words that are spoken",
    "word stems that are spoken",
    "spoken as a whole",
    "spoken near the words of the question",
    "rarest word spoken near the words of the question",
    "where its rarest word is first spoken",
)


class Transcribed(NamedTuple):
    """(n,) credits of held-out items, `with_speech` and by `texts` alone, and the structure of the items."""

    with_speech: Floats
    texts: Floats
    structure: Structure


def answer_with_speech(
    questions: Sequence[Question], answers: Answers, transcripts: Sequence[str], seed: int = 0
) -> Transcribed | None:
    """Return what a solver answers with and without the transcripts of n questions; None with too few videos.

    The headline's tier, one pass of folds.
    """
    structure = structure_of(questions, answers)
    if len(np.unique(structure.groups)) < N_FOLDS:
        return None
    speech: Mapping[str, tuple[Tier, NumberFamily]] = {
        SPEECH: ("item", partial(beside_speech, transcripts=transcripts))
    }
    credits = []
    for families in ({**NUMBER_FAMILIES, **speech}, NUMBER_FAMILIES):
        design = Design.of(questions, families)
        folds = spread_folds(design, answers, structure.groups, seed)
        answered = answer_tiers(design, answers, folds, (HEADLINE,), seed)
        credits.append(design.layout.credits(answered.scores[HEADLINE], answers))
    return Transcribed(credits[0], credits[1], structure)


def beside_speech(layout: Layout, transcripts: Sequence[str]) -> Columns:
    """Return what the transcript of its item says of each option; of labels, of the statement for yes or true."""
    spoken = {text: _Speech(text) for text in dict.fromkeys(transcripts)}
    n_with = Counter(word for speech in spoken.values() for word in speech.at)
    weights = {word: float(np.log((1 + len(spoken)) / count)) for word, count in n_with.items()}
    values = np.zeros((layout.n_rows, len(FEATURES)))
    for item, (start, size) in enumerate(zip(layout.starts, layout.sizes, strict=True)):
        speech, asked = spoken[transcripts[item]], layout.question_words[item]
        if layout.is_label[item]:
            values[start + 1] = speech.about(asked, frozenset(), weights)
            continue
        near = speech.near(asked, weights)
        for row in range(start, start + size):
            values[row] = speech.about(layout.option_words[row], near, weights)
    return dict(zip(FEATURES, values.T, strict=True))


class _Speech:
    """The words of a transcript: `at`, where each is spoken."""

    def __init__(self, text: str) -> None:
        self.words = words(text)[:MAX_SPOKEN]
        self.at: dict[str, list[int]] = defaultdict(list)
        for index, word in enumerate(self.words):
            self.at[word].append(index)
        self.pairs = set(pairwise(self.words))
        self.stems = {word[:4] for word in self.at if len(word) > 3}
        self.joined = f" {' '.join(self.words)} "

    def near(self, asked: Sequence[str], weights: Mapping[str, float]) -> frozenset[str]:
        """Return the words of the window with the highest weight of words of the question, which do not count."""
        told = [word for word in dict.fromkeys(asked) if word in self.at and word not in ARTICLES]
        weight = np.zeros(len(self.words) + WINDOW)
        for word in told:
            weight[self.at[word]] = weights[word]
        sums = np.cumsum(weight)
        if not told or not sums[-1]:
            return frozenset()
        start = int(np.argmax(sums[WINDOW:] - sums[:-WINDOW])) + 1
        return frozenset(self.words[max(0, start - WINDOW // 2) : start + WINDOW + WINDOW // 2]) - frozenset(told)

    def about(self, option: Sequence[str], near: frozenset[str], weights: Mapping[str, float]) -> tuple[float, ...]:
        """Return `FEATURES` of the words of an option."""
        own = [word for word in dict.fromkeys(option) if word not in ARTICLES]
        n, unspoken = max(1, len(own)), max(weights.values(), default=1.0)
        told = [word for word in own if word in self.at]
        close = [word for word in told if word in near]
        rarest = max(told, key=lambda word: weights[word], default="")
        total = sum(weights.get(word, unspoken) for word in own)
        stems = {word[:4] for word in own if len(word) > 3}
        plain = " ".join(option)
        return (
            len(told) / n,
            weights[rarest] if rarest else 0.0,
            sum(weights[word] for word in told) / max(total, 1e-9),
            sum(weights[word] * float(np.log1p(len(self.at[word]))) for word in told) / n,
            len(set(pairwise(option)) & self.pairs) / n,
            len(stems & self.stems) / max(1, len(stems)),
            float(bool(plain) and f" {plain} " in self.joined),
            sum(weights[word] for word in close) / max(total, 1e-9),
            max((weights[word] for word in close), default=0.0),
            1.0 - self.at[rarest][0] / len(self.words) if rarest else 0.0,
        )
