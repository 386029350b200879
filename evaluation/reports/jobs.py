"""Define the background jobs of reports that need a model library, or that read a large project."""

from typing import Any

from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.reports.blind_audit import store_preferences
from evaluation.reports.pages import beside
from evaluation.reports.reports import project_report
from jobs.models import Job
from jobs.progress import progress


def compute_report(report_id: int, job: Job) -> None:
    """Compute a report as its row requests, and those that its page shows beside it; do nothing if all are up to date.

    Those beside it come first: a page that finds the report finds them, too.
    """
    row = CachedResult.objects.select_related("project").get(pk=report_id)
    params = dict(row.params)
    subtest = params.pop("subtest", None)
    others = beside(row.kind)
    for number, (kind, chosen) in enumerate(others):
        progress(job, number, len(others) + 1, "computing")
        _compute_beside(row, kind, subtest, chosen)
    progress(job, len(others), len(others) + 1, "computing")
    if row.kind == "blind":
        store_preferences(row.project, subtest or "")
    project_report(row.project, row.kind, subtest=subtest, params=params)
    progress(job, len(others) + 1, len(others) + 1, "done")


def _compute_beside(row: CachedResult, kind: str, subtest: str | None, params: dict[str, Any]) -> None:
    try:
        project_report(row.project, kind, subtest=subtest, params=params)
    except EvaluationError:
        # The page names the reason, for example that the votes do not support a coding.
        return
