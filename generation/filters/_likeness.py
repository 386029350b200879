"""Similarity of sentences by an encoder, and of words by vectors. Shared by the similarity filters."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foilworks.core.hub.catalogue.registry import ENCODER
from foilworks.core.hub.opening import open_helper
from generation.errors import GenerationError
from generation.filters._cuts import texts_of, with_cuts
from generation.records import Case, Measure

Vectors = dict[str, NDArray[np.float32]]


def sentence_cosines(cases: Sequence[Case], params: dict[str, Any], name: str) -> list[Measure]:
    """Return {name: the cosine of caption and foil} per case; every text is encoded once."""
    encoder = open_helper(params["model"], ENCODER, device=params["device"])
    texts = list(dict.fromkeys(text for case in cases for text in (case.caption.text, case.foil)))
    rows = encoder.encode_text(texts)
    row_index = {text: index for index, text in enumerate(texts)}
    cosines = [float(rows[row_index[case.caption.text]] @ rows[row_index[case.foil]]) for case in cases]
    return with_cuts([{name: cosine} for cosine in cosines], encoder, texts_of(cases))


def largest_word_cosine(pairs: Iterable[tuple[str, str]], vectors: Vectors) -> float | None:
    """Return the highest cosine of the word pairs that have vectors, or None; 1 for a lemma and itself."""
    cosines = [
        1.0 if word == replacement else float(vectors[word] @ vectors[replacement])
        for word, replacement in pairs
        if word == replacement or (word in vectors and replacement in vectors)
    ]
    return max(cosines, default=None)


def open_vectors(path: str) -> Vectors:
    """Read word vectors from a text file, "word number number …" per line, scaled to unit length.

    GenerationError: no path, no such file, or an invalid line.
    """
    if not path:
        raise GenerationError(
            "parameter 'vectors' is empty; give the path of counter-fitted-vectors.txt (Mrkšić et al. "
            "2016), or ask the operator to set WORD_VECTORS"
        )
    file = Path(path)
    if not file.is_file():
        raise GenerationError(f"{path}: vectors: file not found; give the path of counter-fitted-vectors.txt")
    return _vectors(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _vectors(file: Path, stamp: int) -> Vectors:
    vectors: Vectors = {}
    size = 0
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            word, *values = line.split()
            try:
                row = np.array(values, np.float32)
            except ValueError as error:
                raise GenerationError(
                    f"{file}:{number}: vectors: the line is not a word with numbers; check the file"
                ) from error
            size = size or len(row)
            if len(row) != size or not np.isfinite(row).all():
                problem = f"{len(row)} numbers instead of {size}"
                raise GenerationError(f"{file}:{number}: vectors: {problem}; check the file")
            vectors[word.lower()] = row / max(float(np.linalg.norm(row)), 1e-12)
    return vectors
