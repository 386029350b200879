"""The page of a run's thresholds: a histogram and a slider per filter, the preview and examples."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray

from foilworks.core.text.diff import diff_segments
from generation.filters.registry import FILTERS
from generation.models import Candidate, GenerationRun
from generation.thresholds.arithmetic import Preview
from generation.thresholds.histograms import Histogram, drawn
from generation.thresholds.registry import Threshold, movable

BINS = 24
EXAMPLES = 20
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


class ThresholdForm(forms.Form):
    """The form of thresholds: one number per movable filter. An empty field keeps the filter's verdicts."""

    def __init__(self, run: GenerationRun, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial=run.thresholds)
        for slug, threshold in movable(run.filters).items():
            label = _(FILTERS[slug].label) if slug in FILTERS else slug
            field = forms.FloatField(label=label, required=False)
            field.widget.attrs |= {"step": "any", "aria-describedby": f"passes-{slug}", "inputmode": "decimal"}
            field.help_text = _("passes %(side)s") % {"side": threshold.words}
            self.fields[slug] = field

    def thresholds(self) -> dict[str, float]:
        """Return the thresholds that are set; for an unbound form, the run's own."""
        values = self.cleaned_data if self.is_bound and self.is_valid() else self.initial
        return {slug: values[slug] for slug in self.fields if values.get(slug) is not None}


def filter_rows(run: GenerationRun, found: Preview) -> list[FilterRow]:
    """Return one row per filter of the run, in order."""
    known = movable(run.filters)
    params = {row["slug"]: row.get("params", {}) for row in run.filters}
    return [_row(slug, known.get(slug), params[slug], found) for slug in found.sheet.verdicts]


def _row(slug: str, threshold: Threshold | None, params: Mapping[str, Any], found: Preview) -> FilterRow:
    entry = FILTERS.get(slug)
    verdicts, scores = found.sheet.verdicts[slug], found.sheet.scores[slug]
    has_score = np.isfinite(scores)
    slider = None
    if threshold and has_score.any():
        slider = _slider(scores[has_score], params.get(threshold.param), found.at.get(slug))
    return FilterRow(
        slug=slug,
        label=entry.label if entry else slug,
        summary=entry.summary if entry else "",
        passes=threshold.words if threshold else "",
        fails=int(found.fails[slug].sum()),
        judged=int((verdicts >= 0).sum()),
        drawing=_drawing(slug, scores[has_score], found.fails[slug][has_score]) if has_score.any() else None,
        slider=slider,
    )


def _slider(scores: NDArray[np.float64], told: float | None, set_to: float | None) -> Slider:
    least, most = float(scores.min()), float(scores.max())
    span = most - least or 1.0
    step = 10.0 ** math.floor(math.log10(span / STEPS) + 0.5)
    low, high = math.floor(least / step) * step, math.ceil(most / step) * step
    value = set_to if set_to is not None else told if told is not None else low
    inside = min(max(value, least), most)
    x = BINS * 20 * (inside - least) / span if set_to is not None or told is not None else None
    digits = max(0, -math.floor(math.log10(step)))
    return Slider(round(low, digits), round(high, digits), step, min(max(value, low), high), set_to, x)


def _drawing(slug: str, scores: NDArray[np.float64], failed: NDArray[np.bool_]) -> Histogram:
    low, high = float(scores.min()), float(scores.max())
    bins = BINS if high > low else 1
    place = np.minimum(((scores - low) * (bins / (high - low)) if high > low else scores * 0).astype(int), bins - 1)
    counts = np.bincount(2 * place + failed, minlength=2 * bins).reshape(bins, 2)
    return drawn(slug, low, high, counts.tolist())


def examples(found: Preview) -> dict[str, list[Candidate]]:
    """Return up to EXAMPLES candidates that would pass or be held back, spread evenly over the run. One query."""
    places = {"pass": _spread(found, found.passes), "leave": _spread(found, found.leaves)}
    back = found.comes_back
    ids = {name: found.sheet.ids[part].tolist() for name, part in places.items()}
    new = {pk for name, part in places.items() for pk, at in zip(ids[name], part, strict=True) if back[at]}
    wanted = [pk for part in ids.values() for pk in part]
    rows = Candidate.objects.select_related("group__caption").in_bulk(wanted) if wanted else {}
    for row in rows.values():
        row.segments = diff_segments(row.group.caption.text, row.text)
        row.comes_back = row.pk in new
    return {name: [rows[pk] for pk in part if pk in rows] for name, part in ids.items()}


def _spread(found: Preview, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Choose indices in the sheet. Candidates that would move come first, since they are of most interest."""
    moving = np.flatnonzero(which & found.comes_back)
    rest = np.flatnonzero(which & ~found.comes_back)
    first = _evenly(moving, EXAMPLES)
    return np.concatenate([first, _evenly(rest, EXAMPLES - len(first))])


def _evenly(places: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    return places[np.linspace(0, max(0, len(places) - 1), min(most, len(places))).astype(int)]
