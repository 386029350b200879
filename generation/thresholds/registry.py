"""Which filters decide by one number alone, and on which side of it a foil passes: those can move without a rerun.

Filters that look at more than their score (an entity, an antonym, two cosines) are not listed; their verdicts stand.
So do those of a listed one whose parameters have it look at more in a run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Threshold:
    """A score passes that stands to the threshold as `passes` says. `param`: the parameter that set it in the run.

    `alone`: whether under these parameters the score alone decides.
    """

    param: str
    passes: str
    alone: Callable[[Mapping[str, Any]], bool] = lambda _params: True

    def holds(self, scores: NDArray[np.float64], at: float) -> NDArray[np.bool_]:
        """(n,) scores -> whether each passes; a score that is no number does not."""
        compared = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[self.passes]
        return np.asarray(compared(scores, at))

    @property
    def words(self) -> str:
        return {"<": "below", "<=": "up to", ">": "above", ">=": "from"}[self.passes]


THRESHOLDS: dict[str, Threshold] = {
    # At 0 the likeliest label decides, which its score does not tell.
    "nli": Threshold("max_entailment", "<", lambda params: params.get("max_entailment", 0) > 0),
    "grammaticality": Threshold("min", ">="),
    # By its second bar a foil passes beyond the threshold, which its score does not tell; 0 takes that bar away.
    "perplexity": Threshold("max_change", "<", lambda params: params.get("max_perplexity") == 0),
    "sentence_similarity": Threshold("max", "<"),
    "word_similarity": Threshold("max", "<"),
    "frequency": Threshold("more_than", ">"),
    "minimal_edit": Threshold("max_words", "<=", lambda params: params.get("entities") == "free"),
    "plausibility_gap": Threshold("max", "<="),
    "grammar_gap": Threshold("max", "<="),
}


def movable(filters: list[dict[str, Any]]) -> dict[str, Threshold]:
    """slug -> threshold, for those of a run's filters (`GenerationRun.filters`) that can move, in their order."""
    found = {}
    for row in filters:
        threshold = THRESHOLDS.get(row["slug"])
        if threshold and threshold.alone(row.get("params", {})):
            found[row["slug"]] = threshold
    return found
