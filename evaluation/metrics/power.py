"""Plan how many items show a difference between models (docs/reference/formulas.md#metric-plan).

Models are compared on the same items. An item counts only if one model is right and the other is wrong, so the needed
number depends on the share of such items and not on the accuracy itself.
"""

import math
from dataclasses import dataclass

import scipy

from evaluation.errors import EvaluationError
from evaluation.metrics.comparison import ALPHA, POWER
from evaluation.metrics.exact import clusters_needed

MAX_ITEMS = 10_000_000


@dataclass(frozen=True)
class Design:
    """What a comparison of models will look like.

    `difference`: of two models' accuracies. `agreement`: share of items on which both are right or both wrong.
    `models`: all pairs of them are compared, by Holm's method; its first and strictest step decides here.
    `items_per_video`, `similarity`: items per source video, and the correlation of their differences.
    """

    difference: float
    agreement: float
    models: int = 2
    items_per_video: float = 1.0
    similarity: float = 0.0

    @property
    def variance(self) -> float:
        """Return the variance of one item's difference, -1, 0 or 1; larger for items that share their video."""
        return (1.0 - self.agreement - self.difference**2) * (1.0 + (self.items_per_video - 1.0) * self.similarity)

    @property
    def alpha(self) -> float:
        return ALPHA / math.comb(self.models, 2)


def check(design: Design) -> None:
    """EvaluationError if no two models can differ in this way."""
    if design.models < 2:
        raise EvaluationError(f"models: {design.models} cannot be compared; give 2 or more")
    if not 0.0 < design.difference < 1.0:
        raise EvaluationError(f"difference: {design.difference:g} is out of range; give a share above 0 and below 1")
    if not 0.0 <= design.agreement < 1.0:
        raise EvaluationError(f"model_agreement: {design.agreement:g} is out of range; give a share of 0 to below 1")
    if design.difference > 1.0 - design.agreement:
        raise EvaluationError(
            f"model_agreement: two models that differ by {design.difference:g} agree on at most "
            f"{1.0 - design.difference:g} of the items; give a smaller share"
        )
    if not 0.0 <= design.similarity <= 1.0:
        raise EvaluationError(f"similarity: {design.similarity:g} is out of range; give a share of 0 to 1")
    if design.items_per_video < 1.0:
        raise EvaluationError(f"items_per_video: {design.items_per_video:g} is out of range; give 1 or more")


def power(design: Design, items: int) -> float:
    """Compute the probability that the t test over source videos shows the difference with this many items."""
    videos = items / design.items_per_video
    if videos < clusters_needed(design.alpha):
        return 0.0
    freedom = videos - 1.0
    error = math.sqrt(max(design.variance, 0.0) / items)
    if error == 0.0:
        return 1.0
    limit = float(scipy.special.stdtrit(freedom, 1.0 - design.alpha / 2))
    shift = design.difference / error
    return float(1.0 - scipy.special.nctdtr(freedom, shift, limit) + scipy.special.nctdtr(freedom, shift, -limit))


def items_needed(design: Design, target: float = POWER) -> int:
    """Return the smallest number of items with at least the wanted power. EvaluationError if there is none to give."""
    check(design)
    if not design.alpha < target < 1.0:
        raise EvaluationError(f"power: {target:g} is out of range; give a share from 0.5 to 0.99")
    high = 8
    while power(design, high) < target:
        high *= 2
        if high > MAX_ITEMS:
            raise EvaluationError(
                f"difference: {design.difference:g} needs more than {MAX_ITEMS:,} items; give a larger difference"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(design, middle) >= target else (middle, high)
    return high


def curve(design: Design, up_to: int, points: int = 40) -> list[tuple[int, float]]:
    """Return (items, power) at evenly spaced numbers of items."""
    sizes = sorted({max(2, round(up_to * k / points)) for k in range(1, points + 1)})
    return [(items, power(design, items)) for items in sizes]
