"""Compute the analyses of a large release when its runs end; `evaluation.apps` loads this at each start."""

from contextlib import suppress

from evaluation.analyses.registry import OF_SCORES
from evaluation.cached_results.first_views import is_large
from evaluation.scoring.finished import on_finished
from evaluation.scoring.models import Run
from text.errors import ActionableError


def compute_analyses(run: Run) -> None:
    """Compute each analysis with its defaults in the worker: over 10,000 items, a page would take many seconds."""
    if not is_large(run.release.project):
        return
    # Imported here, because numpy would add a sixth to the start of every command.
    from evaluation.reports.reports import release_analysis

    for kind in sorted(OF_SCORES):
        with suppress(ActionableError):
            release_analysis(run.release, kind)


on_finished(compute_analyses)
