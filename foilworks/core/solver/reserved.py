"""Compute features that no selection of items reads: they certify what a selection left (decision 141)."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from foilworks.core.solver.keys import Keys, key_matrix
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.option_features import Columns

# Characters of one text that are read, in runs of this length.
MAX_CHARACTERS, RUN = 160, 3
N_COMPONENTS = 16


def characters(layout: Layout) -> Iterator[Keys]:
    """Yield runs of `RUN` characters of each option; of labels, the label with those of the statement."""
    runs = {text: _runs(text) for text in dict.fromkeys(_texts(layout))}
    for text, option, item in zip(_texts(layout), layout.texts, layout.item, strict=True):
        side = f"{option}|" if layout.is_label[item] else ""
        yield [f"{side}{run}" for run in runs[text]]


def components(layout: Layout) -> Columns:
    """Return principal components of the characters of each option, and its similarity to the question and to the other
    options in these components; of labels, the components of the statement with the sign of the label."""
    texts, asked = _texts(layout), [question.text for question in layout.questions]
    matrix = _weighted(key_matrix(_runs(text) for text in [*texts, *asked]))
    n_components = min(N_COMPONENTS, matrix.shape[1] - 1, matrix.shape[0] - 1)
    if n_components < 1:
        return {"component 1": np.zeros(layout.n_rows)}
    from foilworks.core.solver.scikit_learn import TruncatedSVD

    vectors = TruncatedSVD(n_components, random_state=0).fit_transform(matrix)
    options, questions = vectors[: len(texts)], vectors[len(texts) :][layout.item]
    options = options - options.mean(axis=0)
    is_label = layout.is_label[layout.item]
    options = np.where(is_label[:, None], options * (layout.position - 0.5)[:, None], options)
    middle = options - layout.centred(options)
    columns = {f"component {at + 1}": values for at, values in enumerate(options.T)}
    return columns | {
        "similarity to the question": np.where(is_label, 0.0, _cosine(options, questions)),
        "similarity to the middle of the options": np.where(is_label, 0.0, _cosine(options, middle)),
    }


def _texts(layout: Layout) -> list[str]:
    """Return R texts: the options; of labels, the statements."""
    return [
        layout.questions[item].text if layout.is_label[item] else option
        for item, option in zip(layout.item, layout.texts, strict=True)
    ]


def _runs(text: str) -> Keys:
    padded = f" {' '.join(text.split())[:MAX_CHARACTERS]} "
    return list(dict.fromkeys(padded[at : at + RUN] for at in range(max(1, len(padded) - RUN + 1))))


def _weighted(keys: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the rows weighted by inverse frequency, of length 1."""
    frequency = np.maximum(np.asarray(keys.sum(axis=0)).ravel(), 1.0)
    weighted = keys @ sparse.diags(1.0 + np.log(keys.shape[0] / frequency))
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return (sparse.diags(1.0 / np.maximum(lengths, 1e-9)) @ weighted).tocsr()


def _cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return (first * second).sum(axis=1) / np.maximum(lengths, 1e-9)
