"""Compute UTD splits: samples that objects alone give away, and the rest (UTD, Secs. 3.3.3 and B.3).

A sample is object-biased if all nine models are right about it. Uncertain samples remain.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """Indices of the removed samples: for the split, and for the split of equal class shares (None in retrieval, which
    has no classes); kappa None if undefined.
    """

    removed: tuple[int, ...]
    removed_balanced: tuple[int, ...] | None
    kappa: float | None


def split(
    correct: Booleans,
    *,
    ids: Sequence[str],
    classes: Sequence[str] | None = None,
    confidence: Floats | None = None,
) -> Split:
    """Compute the split. `correct` (n, m): whether each of m models is right about each of n samples.

    `confidence` (n,): mean probability of the true class over the models. Without classes, there is no balanced split.
    """
    biased = consensus(correct)
    removed = tuple(int(index) for index in np.flatnonzero(biased))
    balanced = None
    if classes is not None and confidence is not None:
        balanced = balanced_removal(len(removed), ids=ids, classes=classes, confidence=confidence)
    return Split(removed, balanced, kappa(correct))


def consensus(correct: Booleans) -> Booleans:
    """Return True where all models are right, (n,)."""
    return np.asarray(correct.all(axis=1))


def kappa(correct: Booleans) -> float | None:
    """Compute Fleiss' kappa of right and wrong over the models (UTD, Table 4 shows it x 100).

    It is None if one of the two never occurs, so that agreement cannot be distinguished from chance.
    """
    n, raters = correct.shape
    if n == 0 or raters < 2:
        return None
    right = correct.sum(axis=1).astype(np.float64)
    share = float(right.sum() / (n * raters))
    by_chance = share**2 + (1.0 - share) ** 2
    if by_chance == 1.0:
        return None
    agreeing = right * (right - 1.0) + (raters - right) * (raters - right - 1.0)
    return (float(agreeing.mean()) / (raters * (raters - 1.0)) - by_chance) / (1.0 - by_chance)


def balanced_removal(total: int, *, ids: Sequence[str], classes: Sequence[str], confidence: Floats) -> tuple[int, ...]:
    """Return the indices of `total` samples to remove so that each class keeps its share.

    A class gives its share of `total` by largest remainder (ties: the class that is first by name). Within a class, the
    samples with the highest confidence are removed first, of all its samples, because a quota may exceed the biased
    ones; ties by id.
    """
    members: dict[str, list[int]] = {}
    for index, name in enumerate(classes):
        members.setdefault(name, []).append(index)
    removed: list[int] = []
    for name, quota in quotas({name: len(indices) for name, indices in members.items()}, total).items():
        order = sorted(members[name], key=lambda index: (-confidence[index], ids[index]))
        removed += order[:quota]
    return tuple(sorted(removed))


def quotas(sizes: dict[str, int], total: int) -> dict[str, int]:
    """Divide `total` in proportion to `sizes` by largest remainder, in whole numbers that add up to it."""
    everything = sum(sizes.values())
    if not everything:
        return dict.fromkeys(sizes, 0)
    # Integer arithmetic: shares of a million samples must not have rounding errors.
    floors = {name: size * total // everything for name, size in sizes.items()}
    remainder = total - sum(floors.values())
    first = set(sorted(sizes, key=lambda name: (-(sizes[name] * total % everything), name))[:remainder])
    return {name: floor + (name in first) for name, floor in floors.items()}


def split_of(predictions: Mapping[str, Any]) -> Split:
    """Return the split of stored predictions."""
    correct = np.array([[digit == "1" for digit in row] for row in predictions["correct"]], dtype=np.bool_)
    confidence = predictions["confidence"]
    return split(
        correct,
        ids=predictions["ids"],
        classes=predictions["classes"],
        confidence=None if confidence is None else np.array(confidence),
    )


def split_facts(predictions: Mapping[str, Any], debiased_split: Split) -> dict[str, Any]:
    """Return statistics and classes of a split (UTD, Table 4 and Fig. A.1)."""
    ids, classes = predictions["ids"], predictions["classes"]
    balanced = debiased_split.removed_balanced
    rows = class_rows(classes or (), set(debiased_split.removed), set(balanced or ()))
    return {
        "n": len(ids),
        "n_biased": len(debiased_split.removed),
        "share_biased": len(debiased_split.removed) / len(ids),
        "kappa": debiased_split.kappa,
        "removed": [ids[at] for at in debiased_split.removed],
        "removed_balanced": None if balanced is None else [ids[at] for at in balanced],
        "classes": rows,
    }


def class_rows(classes: Sequence[str | None], removed: set[int], balanced: set[int]) -> list[dict[str, Any]]:
    """Return the samples per class in the full set, the split and the balanced split (UTD, Fig. A.1).

    `removed`, `balanced`: indices of the samples that are not in the split. A sample without a class does not count.
    """
    full = Counter(name for name in classes if name)
    counts_by_form = {
        form: Counter(name for at, name in enumerate(classes) if name and at not in gone)
        for form, gone in (("split", removed), ("balanced", balanced))
    }
    return [
        {"class": name, "n": full[name], **{form: counts_by_form[form][name] for form in counts_by_form}}
        for name in sorted(full)
    ]


def as_utd(
    facts: Mapping[str, Any], ids: Sequence[str], videos: Sequence[str | None] | None = None
) -> dict[str, list[str]]:
    """Return the splits as the authors of UTD publish theirs: the remaining ids, by the name of the split.

    `videos`: the video of each sample, which published files name; a sample without one keeps its id.
    """
    published_ids = [video or sample_id for sample_id, video in zip(ids, videos or ids, strict=True)]
    out = {"full": published_ids}
    for name, key in (("debiased", "removed"), ("debiased-balanced", "removed_balanced")):
        if facts[key] is not None:
            gone = set(facts[key])
            out[name] = [name for sample_id, name in zip(ids, published_ids, strict=True) if sample_id not in gone]
    return out
