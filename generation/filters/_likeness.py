"""Likeness of sentences by an encoder and of words by vectors; shared by the filters that hold it against a bar."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.errors import GenerationError
from generation.filters._cuts import texts_of, with_cuts
from generation.records import Case, Measure
from hub.adapters.registry import ENCODER, open_helper

Vectors = dict[str, NDArray[np.float32]]


def sentence_cosines(cases: Sequence[Case], params: dict[str, Any], name: str) -> list[Measure]:
    """{name: the cosine of caption and foil} of each case; every text is encoded once."""
    encoder = open_helper(params["model"], ENCODER, device=params["device"])
    texts = list(dict.fromkeys(text for case in cases for text in (case.caption.text, case.foil)))
    rows = encoder.encode_text(texts)
    place = {text: at for at, text in enumerate(texts)}
    cosines = [float(rows[place[case.caption.text]] @ rows[place[case.foil]]) for case in cases]
    return with_cuts([{name: cosine} for cosine in cosines], encoder, texts_of(cases))


def largest_word_cosine(pairs: Iterable[tuple[str, str]], vectors: Vectors) -> float | None:
    """Of the word pairs that both have a vector, the highest cosine; None where no pair has."""
    known = [(vectors[one], vectors[other]) for one, other in pairs if one in vectors and other in vectors]
    return max((float(one @ other) for one, other in known), default=None)


def open_vectors(path: str) -> Vectors:
    """Word vectors of a text file, "word number number …" a line, scaled to length one.

    GenerationError: no path, no such file, or a line that is none of these.
    """
    if not path:
        raise GenerationError(
            "parameter 'vectors' names no file; give the path of counter-fitted-vectors.txt (Mrkšić et al. 2016), or "
            "let the operator set WORD_VECTORS"
        )
    file = Path(path)
    if not file.is_file():
        raise GenerationError(f"{path}: vectors: there is no such file; give the path of counter-fitted-vectors.txt")
    return _vectors(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _vectors(file: Path, stamp: int) -> Vectors:
    found: Vectors = {}
    size = 0
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            word, *values = line.split()
            try:
                row = np.array(values, np.float32)
            except ValueError as error:
                raise GenerationError(f"{file}:{number}: vectors: not a word and numbers; check the file") from error
            size = size or len(row)
            if len(row) != size or not np.isfinite(row).all():
                problem = f"{len(row)} numbers, {size} wanted"
                raise GenerationError(f"{file}:{number}: vectors: {problem}; check the file")
            found[word.lower()] = row / max(float(np.linalg.norm(row)), 1e-12)
    return found
