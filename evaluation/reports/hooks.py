"""Store the figures of a large release when its runs end; `evaluation.apps` loads this at each start."""

from evaluation.cached_results import first_views
from evaluation.scoring.finished import on_finished
from evaluation.scoring.models import Run


def keep_figures(run: Run) -> None:
    """Compute ladders and analyses in the worker, too: over 10,000 items, a page would take many seconds.

    What a release needs is computed for any size, because the solver of its texts takes seconds from 1,000 items on.
    """
    if run.release.n_items < first_views.LARGE:
        if "ladder" in run.params:
            from evaluation.ladder.ladders import ladder_of_release

            ladder_of_release(run.release)
        return
    # Imported here, because numpy would add a sixth to the start of every command.
    from evaluation.reports.figures import store_figures

    store_figures(run.release)


on_finished(keep_figures)
