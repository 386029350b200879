"""Histograms of the scores of a run's filters, passed and rejected separately.

The database counts; the page draws the bars as SVG and gives the same numbers as a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, FloatField, Max, Min, QuerySet
from django.db.models.expressions import ExpressionWrapper, F
from django.db.models.functions import Floor

from generation.filters.registry import FILTERS
from generation.models import FilterScore, GenerationRun

BINS = 12
# The drawing's own units; the page scales it.
HEIGHT, STEP, GAP = 60, 20, 2


@dataclass(frozen=True)
class Bar:
    """A bar: scores from `low` to below `high` (the last bar includes `high`), and the coordinates of its two parts."""

    low: float
    high: float
    passed: int
    rejected: int
    x: int
    passed_y: float
    passed_height: float
    rejected_y: float
    rejected_height: float

    @property
    def span(self) -> str:
        return _span(self.low, self.high)


@dataclass(frozen=True)
class Histogram:
    slug: str
    label: str
    low: float
    high: float
    judged: int
    bars: tuple[Bar, ...]
    width: int
    height: int = HEIGHT
    bar_width: int = STEP - GAP

    @property
    def span(self) -> str:
        return _span(self.low, self.high)


def _span(low: float, high: float) -> str:
    return f"{low:.3g} – {high:.3g}"


def score_histograms(run: GenerationRun) -> list[Histogram]:
    """Return one histogram per filter with scores. Two queries, plus one per such filter."""
    scores = FilterScore.objects.filter(run=run, score__isnull=False)
    spans = scores.values_list("filter").annotate(low=Min("score"), high=Max("score")).order_by("filter")
    return [_histogram(scores.filter(filter=slug), slug, low, high) for slug, low, high in spans]


def _histogram(scores: QuerySet[FilterScore], slug: str, low: float, high: float) -> Histogram:
    bins = BINS if high > low else 1
    width = (high - low) / bins if high > low else 1.0
    bin_index = Floor(ExpressionWrapper((F("score") - low) / width, output_field=FloatField()))
    counts = [[0, 0] for _ in range(bins)]
    for bin_number, passed, n in (
        scores.annotate(bin_index=bin_index).values_list("bin_index", "passed").annotate(n=Count("id")).order_by()
    ):
        # The highest score is on the upper edge of the last bin, and rounding may move others there.
        counts[min(max(int(bin_number), 0), bins - 1)][0 if passed else 1] += n
    return drawn(slug, low, high, counts)


def drawn(slug: str, low: float, high: float, counts: Sequence[Sequence[int]]) -> Histogram:
    """Draw [passed, rejected] counts in bins of equal width from `low` to `high`."""
    width = (high - low) / len(counts) if high > low else 1.0
    tallest = max(1, *(sum(pair) for pair in counts))
    label = FILTERS[slug].label if slug in FILTERS else slug
    bars = tuple(_bar(bin_index, low, width, *pair, tallest) for bin_index, pair in enumerate(counts))
    return Histogram(slug, label, low, high, sum(map(sum, counts)), bars, width=len(counts) * STEP)


def _bar(bin_index: int, low: float, width: float, passed: int, rejected: int, tallest: int) -> Bar:
    passed_height, rejected_height = (round(HEIGHT * n / tallest, 2) for n in (passed, rejected))
    return Bar(
        low=low + bin_index * width,
        high=low + (bin_index + 1) * width,
        passed=passed,
        rejected=rejected,
        x=bin_index * STEP + GAP // 2,
        passed_y=round(HEIGHT - passed_height, 2),
        passed_height=passed_height,
        rejected_y=round(HEIGHT - passed_height - rejected_height, 2),
        rejected_height=rejected_height,
    )
