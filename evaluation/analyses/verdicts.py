"""What the analysis of filters computes on: scores of foils beside what people found of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class FilterVerdicts:
    """n foils that one filter scored and people judged. `higher_passes`: which side of a threshold is let through;
    `now`: (n,) whether the filter let it through; `captions`: (n,) a name a caption."""

    filter: str
    label: str
    higher_passes: bool
    scores: Floats
    good: Flags
    now: Flags
    captions: Sequence[str]
