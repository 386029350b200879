"""Template tags for pages below the room of evidence ladders, which cannot import it."""

from typing import Any

from django import template

from corpus.models import Release
from evaluation.ladder import wording
from evaluation.ladder.ladders import ladder_of_release, ladder_of_run
from evaluation.scoring.models import Run

register = template.Library()


@register.simple_tag
def ladder_conclusion(run: Run) -> str:
    """Return what the score of a run needs, in a sentence; "" without a ladder."""
    found = ladder_of_run(run)
    return wording.conclusion(found["overall"]) if found else ""


@register.simple_tag
def measured_by(release: Release) -> dict[str, Any] | None:
    """Return the ladder of a release with its sentences, and a labelled row per rung; None without one."""
    found = ladder_of_release(release)
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
