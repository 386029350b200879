"""Warn if the nine models of a classification are too weak to find object-biased samples (UTD, Sec. B.3).

A sample is removed if all nine are right. On few train videos, bootstraps lose classes, and the models fall far below
the model of the whole train split. Then few samples are removed, whatever the bias is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import mean
from evaluation.utd.procedure import PLAIN, Procedure

# The nine models may be this much less accurate than the full model, on average.
MAX_GAP = 0.05
# The data sets of the paper have about 94 train videos per class, or more.
FEW_PER_CLASS = 60
FAR_BELOW, FEW_TRAIN = "far below", "few train videos"
WARNINGS = {
    FAR_BELOW: (
        "The nine models are right on {nine:.1f} % of the samples, and the model of the whole train split on "
        "{full:.1f} %. The share of object-biased samples is too low, and the splits are not certified. Use the "
        "stratified bootstrap, a larger C or more train videos."
    ),
    FEW_TRAIN: (
        "Classes have {median:g} train videos with objects (median). Below {few}, the share of object-biased samples "
        "depends on the size of the train split. Compare it with the stratified bootstrap, or measure a learning "
        "curve."
    ),
}


def guarded(
    correct: Sequence[str], full: NDArray[np.float64], sizes: Mapping[str, int], procedure: Procedure
) -> dict[str, Any]:
    """Return the accuracies of the nine models beside that of the full model, and what they mean for the splits.

    `correct`: nine digits per sample; `full`: the credits of the model of the whole train split on the same samples;
    `sizes`: train videos per class. `certified` is False if the nine are far below the full model.
    """
    accuracies = np.array([[digit == "1" for digit in row] for row in correct]).mean(axis=0)
    nine, full_accuracy = float(accuracies.mean()), mean(full)
    median = float(np.median(list(sizes.values())))
    warnings = []
    if nine < full_accuracy - MAX_GAP:
        warnings.append(FAR_BELOW)
    if procedure.bootstrap == PLAIN and median < FEW_PER_CLASS:
        warnings.append(FEW_TRAIN)
    facts = {"nine": 100 * nine, "full": 100 * full_accuracy, "median": median, "few": FEW_PER_CLASS}
    return {
        "accuracies": accuracies.tolist(),
        "mean": nine,
        "full": full_accuracy,
        "train_per_class": median,
        "certified": FAR_BELOW not in warnings,
        "warnings": [words.format(**facts) for name, words in WARNINGS.items() if name in warnings],
    }
