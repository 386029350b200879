"""Measure by how much the caption scores above the best foil."""

from typing import Any

import numpy as np

from foilworks.plugins import PairScores

VERSION = "1"
INPUT = "pairs"


def compute(data: PairScores, *, cap: float) -> dict[str, Any]:
    """Return the mean margin over all items, and per subtest."""
    margins = np.clip(data.main[:, 0] - np.nanmax(data.main[:, 1:], axis=1), -cap, cap)
    subtests = np.array(data.subtests)
    return {
        "mean_margin": margins.mean(),
        "n": len(margins),
        "subtests": {name: {"mean_margin": margins[subtests == name].mean()} for name in dict.fromkeys(data.subtests)},
    }
