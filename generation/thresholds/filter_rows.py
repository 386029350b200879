"""Build a row per filter of a run: what it fails, the histogram of its scores, the slider of its threshold."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.filters.registry import FILTERS
from generation.models import GenerationRun
from generation.thresholds.arithmetic import Preview
from generation.thresholds.histograms import Histogram, drawn
from generation.thresholds.registry import Threshold, movable

BINS = 24
# Positions of a slider between its two ends.
STEPS = 200


@dataclass(frozen=True)
class Slider:
    """The range of a threshold: the range of the scores, extended to whole steps."""

    low: float
    high: float
    step: float
    value: float
    set_to: float | None
    # The x coordinate of the threshold in the drawing.
    x: float | None


@dataclass(frozen=True)
class FilterRow:
    slug: str
    label: str
    summary: str
    passes: str
    fails: int
    judged: int
    drawing: Histogram | None
    slider: Slider | None


def filter_rows(run: GenerationRun, preview: Preview) -> list[FilterRow]:
    """Return one row per filter of the run, in order."""
    thresholds = movable(run.filters)
    params = {row["slug"]: row.get("params", {}) for row in run.filters}
    return [_row(slug, thresholds.get(slug), params[slug], preview) for slug in preview.sheet.verdicts]


def _row(slug: str, threshold: Threshold | None, params: Mapping[str, Any], preview: Preview) -> FilterRow:
    entry = FILTERS.get(slug)
    verdicts, scores = preview.sheet.verdicts[slug], preview.sheet.scores[slug]
    has_score = np.isfinite(scores)
    slider = None
    if threshold and has_score.any():
        slider = _slider(scores[has_score], params.get(threshold.param), preview.at.get(slug))
    return FilterRow(
        slug=slug,
        label=entry.label if entry else slug,
        summary=entry.summary if entry else "",
        passes=threshold.words if threshold else "",
        fails=int(preview.fails[slug].sum()),
        judged=int((verdicts >= 0).sum()),
        drawing=_drawing(slug, scores[has_score], preview.fails[slug][has_score]) if has_score.any() else None,
        slider=slider,
    )


def _slider(scores: NDArray[np.float64], run_threshold: float | None, set_to: float | None) -> Slider:
    least, most = float(scores.min()), float(scores.max())
    span = most - least or 1.0
    step = 10.0 ** math.floor(math.log10(span / STEPS) + 0.5)
    low, high = math.floor(least / step) * step, math.ceil(most / step) * step
    threshold = run_threshold if set_to is None else set_to
    value = low if threshold is None else threshold
    inside = min(max(value, least), most)
    x = None if threshold is None else BINS * 20 * (inside - least) / span
    digits = max(0, -math.floor(math.log10(step)))
    return Slider(round(low, digits), round(high, digits), step, min(max(value, low), high), set_to, x)


def _drawing(slug: str, scores: NDArray[np.float64], failed: NDArray[np.bool_]) -> Histogram:
    low, high = float(scores.min()), float(scores.max())
    bins = BINS if high > low else 1
    place = np.minimum(((scores - low) * (bins / (high - low)) if high > low else scores * 0).astype(int), bins - 1)
    counts = np.bincount(2 * place + failed, minlength=2 * bins).reshape(bins, 2)
    return drawn(slug, low, high, counts.tolist())
