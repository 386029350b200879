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
    found = ladder_of_run(run)
    return wording.conclusion(found["overall"]) if found else ""


@register.simple_tag
def measured_by(release: Release) -> dict[str, Any] | None:
    """Return the ladder of a release with its sentences, and a labelled row per rung; None without one."""
    found = None if awaited(release) else ladder_of_release(release)
    if not found:
        return None
    rows = [(wording.RUNG_LABELS[rung], row) for rung, row in found["overall"]["rungs"].items()]
    return {**found, "rows": rows, "sentences": wording.benchmark_sentences(found)}


@register.simple_tag
def selected_by(release: Release) -> dict[str, Any] | None:
    """Return by which ladder the items of a release were selected, with the notice; None if by none."""
    chosen = release.gate.data.get("needs") if hasattr(release, "gate") else None
    if not chosen:
        return None
    return {**chosen, "label": wording.SELECTION_LABELS[chosen["needs"]], "notice": wording.selection_notice(chosen)}


@register.inclusion_tag("evaluation/_screening_curve.html")
def screening_curve(run: GenerationRun) -> dict[str, Any]:
    """Show what other thresholds of the run's video model would save and lose; nothing without such a filter."""
    found = screened_foils(run.project, run=run)
    if not found:
        return {}
    data = compute(found)
    row = data["judges"][0]
    chart = partial(cached_chart, "saved", partial(CHARTS["saved"], data), data) if row["curve"] else None
    return {"row": row, "max_loss": data["max_loss"], "drawing": chart, "project": run.project}
