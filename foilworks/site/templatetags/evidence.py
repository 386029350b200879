"""Template tags for pages below the rooms of evidence ladders and of screening, which cannot import them."""

from functools import partial
from typing import Any

from django import template

from evaluation.analyses.screening import compute
from evaluation.charts.inline import cached_chart
from evaluation.facts.screening import screened_foils
from evaluation.ladder import wording
from evaluation.ladder.ladders import ladder_of_release, ladder_of_run
from evaluation.reports.charts_by_name import CHARTS
from evaluation.scoring.figures import awaited
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Release
from generation.models import GenerationRun

register = template.Library()


@register.simple_tag
def ladder_conclusion(run: Run) -> str:
    """Return what the score of a run needs, in a sentence; "" without a ladder."""
    ladder = ladder_of_run(run)
    return wording.conclusion(ladder["overall"]) if ladder else ""


@register.simple_tag
def measured_by(release: Release) -> dict[str, Any] | None:
    """Return the ladder of a release with its sentences, and a labelled row per rung; None without one."""
    ladder = None if awaited(release) else ladder_of_release(release)
    if not ladder:
        return None
    rows = [(wording.RUNG_LABELS[rung], row) for rung, row in ladder["overall"]["rungs"].items()]
    return {**ladder, "rows": rows, "sentences": wording.benchmark_sentences(ladder)}


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
