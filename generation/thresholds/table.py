"""Which filters decide by one number alone, and on which side of it a foil passes: those can move without a rerun.

Filters that look at more than their score (an entity, an antonym, two cosines) are not listed; their verdicts stand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Threshold:
    """A score passes that stands to the threshold as `passes` says. `param`: the parameter that set it in the run.

    `only`: parameters under which the score alone decides.
    """

    param: str
    passes: str
    only: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, scores: NDArray[np.float64], at: float) -> NDArray[np.bool_]:
        """(n,) scores -> whether each passes; a score that is no number does not."""
        compared = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[self.passes]
        return np.asarray(compared(scores, at))

    @property
    def words(self) -> str:
        return {"<": "below", "<=": "up to", ">": "above", ">=": "from"}[self.passes]


THRESHOLDS: dict[str, Threshold] = {
    "nli": Threshold("max_entailment", "<"),
    "grammaticality": Threshold("min", ">="),
    "perplexity": Threshold("max_change", "<"),
    "sentence_similarity": Threshold("max", "<"),
    "word_similarity": Threshold("max", "<"),
    "frequency": Threshold("more_than", ">"),
    "minimal_edit": Threshold("max_words", "<=", {"entities": "free"}),
    "plausibility_gap": Threshold("max", "<="),
    "grammar_gap": Threshold("max", "<="),
}


def movable(filters: list[dict[str, Any]]) -> dict[str, Threshold]:
    """slug -> threshold, for those of a run's filters (`GenerationRun.filters`) that can move, in their order."""
    found = {}
    for row in filters:
        threshold = THRESHOLDS.get(row["slug"])
        params = row.get("params", {})
        if threshold and all(params.get(name) == value for name, value in threshold.only.items()):
            found[row["slug"]] = threshold
    return found
