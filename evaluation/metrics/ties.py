"""Rank the right answer among its rivals, under a named tie policy (docs/reference/formulas.md#metric-ranks).

`half`: the expectation over random tie-breaking (a tie among n best counts 1/n, ranks of a tied group are averaged).
`strict`: every tie is lost. `optimistic`: every tie is won. `first`: the order in the record breaks ties, so that a
caption listed first wins them, as in ViLMA's released code.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

POLICIES = ("half", "strict", "optimistic", "first")


@dataclass(frozen=True)
class RivalCounts:
    """Counts per record, (n,): rivals above the right answer, level with it, and level with it but listed before it."""

    above: Integers
    tied: Integers
    tied_before: Integers
    choices: Integers

    @property
    def tie_for_best(self) -> NDArray[np.bool_]:
        """Return True where the right answer shares the highest score, so that the policy decides, (n,)."""
        return (self.above == 0) & (self.tied > 0)

    @property
    def chance(self) -> Floats:
        """Return the credit of a blind guess, (n,): one over the number of choices."""
        return 1.0 / self.choices


def standing(scores: Floats, right: Integers | None = None) -> RivalCounts:
    """Count the rivals of the right answer in `scores` (n, w), rows padded with NaN on the right; `right` (n,) its
    column, 0 by default.
    """
    rows, width = scores.shape
    column = np.zeros(rows, dtype=np.int64) if right is None else right
    best = np.take_along_axis(scores, column[:, None], axis=1)
    equal = scores == best
    before = equal & (np.arange(width)[None, :] < column[:, None])
    return RivalCounts(
        above=(scores > best).sum(axis=1),
        tied=equal.sum(axis=1) - 1,
        tied_before=before.sum(axis=1),
        choices=(~np.isnan(scores)).sum(axis=1),
    )


def rank(where: RivalCounts, policy: str) -> Floats:
    """Return the rank of the right answer, (n,), 1 is best; under `half` a tied group shares its mean rank."""
    lost: dict[str, Floats] = {
        "half": where.tied / 2.0,
        "strict": where.tied.astype(np.float64),
        "optimistic": np.zeros(len(where.tied)),
        "first": where.tied_before.astype(np.float64),
    }
    if policy not in lost:
        raise EvaluationError(f"unknown tie policy {quoted(policy)}; choose one of: {', '.join(POLICIES)}")
    return lost[policy] + where.above + 1.0


def hit(where: RivalCounts, policy: str, k: int = 1) -> Floats:
    """Return the credit for being among the best k, (n,), in 0..1; with k = 1, the credit of a choice."""
    if policy != "half":
        return (rank(where, policy) <= k).astype(np.float64)
    # Random tie-breaking puts the right answer at each of the tied + 1 ranks after `above` with equal chance.
    return np.clip((k - where.above) / (where.tied + 1.0), 0.0, 1.0)
