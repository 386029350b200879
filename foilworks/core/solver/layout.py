"""Lay the options of all questions out as rows, with the words of their texts: what every feature is computed from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foilworks.core.solver.questions import Answers, Question
from foilworks.core.text.tokens import words

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# Words of one text that are read; a paragraph would make features quadratic in its length.
MAX_WORDS = 60
# A word in fewer questions names what a question is about; in more, how it asks.
ENTITY_SHARE = 0.03
BLANK = "*"
# Scores closer than this are equal: sums of equal terms differ by the order of addition.
TIE = 1e-9
COLUMN_DECIMALS = 6


@dataclass(frozen=True)
class Layout:
    """n questions with R options in all. `starts`: (n,) the first row of each question; `item`: (R,) the question of
    each row; `sizes`: (n,) its number of options."""

    questions: Sequence[Question]
    starts: Codes
    sizes: Codes
    item: Codes

    @classmethod
    def of(cls, questions: Sequence[Question]) -> "Layout":
        sizes = np.array([len(question.options) for question in questions], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        return cls(questions, starts, sizes, np.repeat(np.arange(len(questions)), sizes))

    @property
    def n_rows(self) -> int:
        return len(self.item)

    @cached_property
    def position(self) -> Codes:
        """Return (R,) the index of each option in its question."""
        return np.arange(self.n_rows) - self.starts[self.item]

    @cached_property
    def is_label(self) -> NDArray[np.bool_]:
        return np.array([question.is_label for question in self.questions], dtype=bool)

    @cached_property
    def texts(self) -> list[str]:
        """Return R option texts."""
        return [option for question in self.questions for option in question.options]

    @cached_property
    def option_words(self) -> list[list[str]]:
        """Return the words of R options."""
        by_text = {text: words(text)[:MAX_WORDS] for text in dict.fromkeys(self.texts)}
        return [by_text[text] for text in self.texts]

    @cached_property
    def question_words(self) -> list[list[str]]:
        """Return the words of n questions."""
        by_text = {text: words(text)[:MAX_WORDS] for text in {question.text for question in self.questions}}
        return [by_text[question.text] for question in self.questions]

    @cached_property
    def question_frequency(self) -> Counter[str]:
        """Return in how many questions a word is."""
        return Counter(word for text in self.question_words for word in set(text))

    @cached_property
    def option_frequency(self) -> Counter[str]:
        """Return in how many items a word is part of an option."""
        count: Counter[str] = Counter()
        for start, size in zip(self.starts, self.sizes, strict=True):
            count.update(set().union(*self.option_words[start : start + size]))
        return count

    @cached_property
    def templates(self) -> list[str]:
        """Return n questions with `BLANK` for the words that name what they are about."""
        least = max(3, ENTITY_SHARE * len(self.questions))
        frequent = {word for word, count in self.question_frequency.items() if count >= least}
        return [" ".join(word if word in frequent else BLANK for word in text) for text in self.question_words]

    @cached_property
    def openings(self) -> list[str]:
        """Return the first two words of n questions."""
        return [" ".join(text[:2]) for text in self.question_words]

    def right_rows(self, answers: Answers) -> Floats:
        """Return (R,) 1 for the right options, 0 for the others."""
        right = np.zeros(self.n_rows)
        right[self.starts + answers] = 1.0
        return right

    def centred(self, values: Floats) -> Floats:
        """Return (R, …) values minus the mean of the options of their item."""
        totals = np.add.reduceat(values, self.starts, axis=0)
        means = totals / self.sizes.reshape((-1,) + (1,) * (values.ndim - 1))
        return values - means[self.item]

    def probabilities(self, scores: Floats) -> Floats:
        """Return (R,) the softmax of scores within each item."""
        shifted = scores - np.maximum.reduceat(scores, self.starts)[self.item]
        weights = np.exp(np.clip(shifted, -50.0, 0.0))
        return weights / np.add.reduceat(weights, self.starts)[self.item]

    def credits(self, scores: Floats, answers: Answers) -> Floats:
        """Return (n,) 1 / (number of best options) if the right option is one of them, else 0."""
        best = np.maximum.reduceat(scores, self.starts)
        is_best = scores >= best[self.item] - TIE
        right = is_best[self.starts + answers]
        return right / np.add.reduceat(is_best.astype(np.float64), self.starts)


def spread_of_one(values: Floats) -> Floats:
    """Return (R, F) columns divided by their spread, rounded.

    Sums of equal terms differ in their last bits by processor: trees would split what is equal.
    """
    return (values / np.maximum(values.std(axis=0), TIE)).round(COLUMN_DECIMALS)


def relative_columns(layout: Layout, values: Floats) -> tuple[Floats, Floats]:
    """Return of (R, F) values: the share of other options below minus above, and the share of others that are equal."""
    rank, equal = np.zeros_like(values), np.zeros_like(values)
    for size in np.unique(layout.sizes):
        first = layout.starts[layout.sizes == size]
        rows = first[:, None] + np.arange(size)
        block = values[rows]
        for offset in range(1, size):
            difference = block - np.roll(block, offset, axis=1)
            near = np.abs(difference) <= TIE
            rank[rows] += np.where(near, 0.0, np.sign(difference)) / (size - 1)
            equal[rows] += near / (size - 1)
    return rank, equal
