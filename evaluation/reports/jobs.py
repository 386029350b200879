"""Define the background jobs of reports that need a model library."""

from evaluation.cached_results.models import CachedResult
from evaluation.reports.reports import project_report
from jobs.models import Job
from jobs.progress import progress


def compute_report(report_id: int, job: Job) -> None:
    """Compute a report of BY_JOB as its row requests; do nothing if it is up to date."""
    row = CachedResult.objects.select_related("project").get(pk=report_id)
    params = dict(row.params)
    subtest = params.pop("subtest", None)
    progress(job, 0, 1, "computing")
    project_report(row.project, row.kind, subtest=subtest, params=params)
    progress(job, 1, 1, "done")
