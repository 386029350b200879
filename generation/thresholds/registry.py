"""Filters that decide by one number alone, and the side on which foils pass. Their thresholds can move without a rerun.

Filters that depend on more than their score (an entity, an antonym, two cosines) are not listed; their verdicts stay.
So do those of a listed filter whose parameters in a run make it depend on more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Threshold:
    """A threshold. `passes`: the side of passing scores. `param`: the parameter that set it in the run.

    `alone`: whether the score alone decides under these parameters.
    """

    param: str
    passes: str
    alone: Callable[[Mapping[str, Any]], bool] = lambda _params: True

    def holds(self, scores: NDArray[np.float64], at: float) -> NDArray[np.bool_]:
        """Return whether each of (n,) scores passes; NaN does not."""
        compared = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[self.passes]
        return np.asarray(compared(scores, at))

    @property
    def words(self) -> str:
        return {"<": "below", "<=": "up to", ">": "above", ">=": "from"}[self.passes]


THRESHOLDS: dict[str, Threshold] = {
    # At 0 the most likely label decides, which the score does not show.
    "nli": Threshold("max_entailment", "<", lambda params: params.get("max_entailment", 0) > 0),
    "grammaticality": Threshold("min", ">="),
    # Its second limit lets foils pass beyond the threshold, which the score does not show; 0 disables that limit.
    "perplexity": Threshold("max_change", "<", lambda params: params.get("max_perplexity") == 0),
    "sentence_similarity": Threshold("max", "<"),
    "word_similarity": Threshold("max", "<"),
    "frequency": Threshold("more_than", ">"),
    "minimal_edit": Threshold("max_words", "<=", lambda params: params.get("entities") == "free"),
    "plausibility_gap": Threshold("max", "<="),
    "grammar_gap": Threshold("max", "<="),
    "video_judge": Threshold("min", ">="),
}


def movable(filters: list[dict[str, Any]]) -> dict[str, Threshold]:
    """Return slug -> threshold for the movable filters of a run (`GenerationRun.filters`), in order."""
    thresholds = {}
    for row in filters:
        threshold = THRESHOLDS.get(row["slug"])
        if threshold and threshold.alone(row.get("params", {})):
            thresholds[row["slug"]] = threshold
    return thresholds
