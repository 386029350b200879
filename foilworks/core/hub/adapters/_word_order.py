"""Encode a text as its words and the order of their first occurrences: a deterministic TextEncoder. No weights, no
torch.

Trials and tests of word order use it: `left … right` and `right … left` have equal words and different pairs.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind
from foilworks.core.text.tokens import words

DIMENSIONS = 1024
# Places of the row that one feature moves, up or down.
COLUMNS_PER_FEATURE = 8
# Of a long text the first words make pairs: their number grows with its square.
PAIRED_WORDS = 48
INSTRUCTION_WEIGHT = 0.05
HOLLOW = frozenset(
    words(
        "a an the is are was it its of at in on to from and there this that frame something someone photo video moving "
        "moves shows"
    )
)
QUERY = "\nQuery: "


class WordOrder(ReadsWholeTexts):
    """Equal texts score 1, texts without a common word about 0; an instruction before the text changes it a little."""

    info = ModelInfo("fake/words", "1", ScoreKind.COSINE, needs_video=False, card={"category": "fake"})

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as m rows of length one; texts without a word are all equal."""
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            instruction, mark, content = text.rpartition(QUERY)
            for feature in _features(content):
                columns, signs = _columns(feature)
                np.add.at(row, columns, signs)
            length = float(np.linalg.norm(row)) or 1.0
            row /= length
            if mark:
                columns, signs = _columns((instruction,))
                np.add.at(row, columns, INSTRUCTION_WEIGHT * signs)
            row /= float(np.linalg.norm(row)) or 1.0
        return rows


def _features(text: str) -> Iterator[tuple[str, ...]]:
    content_words = list(dict.fromkeys(word for word in words(text) if word not in HOLLOW and not word.isdigit()))
    yield from ((word,) for word in content_words or ("",))
    yield from combinations(content_words[:PAIRED_WORDS], 2)


def _columns(feature: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    numbers = np.frombuffer(hashlib.sha256("\x1f".join(feature).encode("utf-8", "surrogatepass")).digest(), np.uint16)
    columns = numbers[:COLUMNS_PER_FEATURE].astype(np.int64) % DIMENSIONS
    return columns, np.where(numbers[COLUMNS_PER_FEATURE:] & 1, 1.0, -1.0).astype(np.float32)
