"""Hold what rcad and mc read: one right answer among several candidates."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.errors import EvaluationError
from evaluation.metrics.ties import Floats, Integers


@dataclass(frozen=True)
class ChoiceScores:
    """n records. `scores`: (n, w), higher is better, rows padded with NaN; `right`: (n,) column of the right answer.

    `all_candidates`: the rows have a score for every candidate. Predictions do not say how many there were.
    """

    ids: Sequence[str]
    scores: Floats
    right: Integers
    clusters: Sequence[str]
    all_candidates: bool = True

    def refuse_nothing(self) -> None:
        """Raise EvaluationError if there is no record."""
        if not len(self.ids):
            raise EvaluationError("there are no scored records; give at least one")
