"""Hold what the analysis of filters computes on: filter scores of foils and human verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class FilterVerdicts:
    """n foils with a score of one filter and a human verdict.

    `higher_passes`: which side of a threshold passes; `now`: (n,) whether the filter passed it; `captions`: (n,) a name
    per caption.
    """

    filter: str
    label: str
    higher_passes: bool
    scores: Floats
    good: Flags
    now: Flags
    captions: Sequence[str]
