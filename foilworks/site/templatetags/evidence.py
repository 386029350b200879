"""Template tags for pages below the rooms of evidence ladders and of screening, which cannot import them."""

from functools import partial
from typing import Any

from django import template

from evaluation.analyses.screening import compute
from evaluation.charts.inline import cached_chart
from evaluation.facts.screening import screened_foils
from evaluation.ladder import wording
from evaluation.ladder.ladders import ladder_of_release
from evaluation.ladder.needs_context import needs_context
from evaluation.reports.charts_by_name import CHARTS
from evaluation.scoring.figures import awaited
from foilworks.core.corpus.models import Release
from generation.models import GenerationRun

register = template.Library()


@register.simple_tag
def measured_by(release: Release) -> dict[str, Any] | None:
    """Return what a release needs, as every page shows it; None without a ladder."""
    ladder = None if awaited(release) else ladder_of_release(release)
    return needs_context(ladder) if ladder else None


@register.simple_tag
def selected_by(release: Release) -> dict[str, Any] | None:
    """Return by which ladder the items of a release were selected, with the notice; None if by none."""
    selection = release.gate.data.get("needs") if hasattr(release, "gate") else None
    if not selection:
        return None
    return {
        **selection,
        "label": wording.SELECTION_LABELS[selection["needs"]],
        "notice": wording.selection_notice(selection),
        "model_keys": [model["model_key"] for model in selection["models"]],
    }


@register.inclusion_tag("evaluation/_screening_curve.html")
def screening_curve(run: GenerationRun) -> dict[str, Any]:
    """Show what other thresholds of the run's video model would save and lose; nothing without such a filter."""
    foils = screened_foils(run.project, run=run)
    if not foils:
        return {}
    data = compute(foils)
    row = data["judges"][0]
    chart = partial(cached_chart, "saved", partial(CHARTS["saved"], data), data) if row["curve"] else None
    return {"row": row, "max_loss": data["max_loss"], "drawing": chart, "project": run.project}
