"""Define the background jobs that preview and freeze a release of a large project."""

from evaluation.cached_results.models import CachedResult
from evaluation.releases.background import freeze_from_row, store_preview
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress


def preview_release(row_id: int, job: Job) -> None:
    row = CachedResult.objects.select_related("project").filter(pk=row_id).first()
    if row is None:  # An erasure deleted it; the next view of the page queues another job.
        return
    progress(job, 0, 1, "computing")
    store_preview(row)
    progress(job, 1, 1, "done")


def freeze_by_job(row_id: int, job: Job) -> None:
    progress(job, 0, 1, "computing")
    freeze_from_row(CachedResult.objects.select_related("project").get(pk=row_id))
    progress(job, 1, 1, "done")
