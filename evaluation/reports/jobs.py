"""Define the background jobs of reports that need a model library, or that read a large project or release."""

from functools import partial

from evaluation.analyses.registry import STEPWISE
from evaluation.cached_results.models import CachedResult
from evaluation.reports.beside import store_beside
from evaluation.reports.figures import store_figures
from evaluation.reports.reports import project_report
from evaluation.reports.steps import forget_steps, steps_of
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress


def compute_report(report_id: int, job: Job) -> None:
    """Compute a report as its row requests, and what its page shows beside it; do nothing if it is up to date.

    What belongs beside it comes first: a page that finds the report finds it, too.
    """
    row = CachedResult.objects.select_related("project").get(pk=report_id)
    params = dict(row.params)
    subtest = params.pop("subtest", None)
    progress(job, 0, 1, "computing")
    store_beside(row.project, row.kind, subtest or "")
    steps = partial(steps_of, row, job=job) if row.kind in STEPWISE else None
    project_report(row.project, row.kind, subtest=subtest, params=params, steps=steps)
    if steps:
        forget_steps(row)
    progress(job, 1, 1, "done")


def compute_figures(row_id: int, job: Job) -> None:
    """Store what pages show of the models of the release that the row is about."""
    row = CachedResult.objects.filter(pk=row_id).first()
    if row is None:  # An erasure deleted it; the next view of a page queues another job.
        return
    progress(job, 0, 1, "computing")
    store_figures(Release.objects.select_related("project").get(pk=row.params["about"], project=row.project_id))
    progress(job, 1, 1, "done")
