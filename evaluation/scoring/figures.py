"""Know whether the figures of a large release are stored: a job computes them, and no page does (decision 126)."""

from datetime import timedelta

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.cached_results import first_views
from evaluation.cached_results.cache import digest, find_result, locked_result, store_result
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.scoring.models import Run
from evaluation.scoring.run_results import fingerprint_of, is_settled, runs_of
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.live_pages import render_live

KIND = "figures"
JOB = "reports.compute_figures"
VERSION = "1"
# After a failure, pages wait this long before they have the figures computed again.
RETRY = timedelta(minutes=10)


def is_large_release(release: Release) -> bool:
    """Report whether only jobs compute what is shown of the release's models. No query."""
    return release.n_items >= first_views.LARGE


def complete_runs(release: Release) -> list[Run]:
    return [run for run in runs_of(release) if is_settled(run)]


def mark_of(release: Release) -> str:
    """Return what the figures follow from: the content of the release, and the scores of its runs that have ended."""
    runs = [[run.pk, fingerprint_of(run)] for run in complete_runs(release)]
    return digest([VERSION, release.content_hash, runs])


def mark_stored(release: Release, mark: str) -> None:
    store_result(release.project, KIND, release.pk, mark, {})


def awaited(release: Release) -> CachedResult | None:
    """Return the row of the job that computes the figures; None if they are stored, or the release is not large.

    Without a job, one is queued. Two queries while the figures are stored.
    """
    if not is_large_release(release):
        return None
    row = find_result(release.project, KIND, release.pk)
    if row is not None and row.fingerprint == mark_of(release):
        return None
    if row is None or row.job is None or (row.job.is_over and not _has_just_failed(row.job)):
        return _ask(release)
    return row


def waiting_page(request: HttpRequest, release: Release) -> HttpResponse | None:
    """Return a page with the progress of the job, or its live part if this is requested; None if nothing is awaited.

    Once the figures are stored, the part makes the browser load the page again.
    """
    row = awaited(release)
    context = {"release": release, "waiting": row}
    if request.GET.get("part") == KIND:
        return render_live(request, "evaluation/_figures_wait.html", context, refresh=row is None)
    return row and render(request, "evaluation/figures_wait.html", context)


def require_figures(release: Release) -> None:
    """Raise EvaluationError while a job computes the figures: for files and the API."""
    if awaited(release) is not None:
        raise EvaluationError(_("A job computes the results of this large release. Try again in a few minutes."))


def _has_just_failed(job: Job) -> bool:
    ended = job.finished_at or job.created_at
    return job.state != JobState.DONE and timezone.now() - ended < RETRY


@transaction.atomic
def _ask(release: Release) -> CachedResult:
    """Return the row with a job in progress; a second request at the same moment finds the job of the first."""
    row = locked_result(release.project, KIND, release.pk)
    if row.job is None or row.job.is_over:
        title = _("Results of %(release)s") % {"release": release.name}
        row.job = enqueue(JOB, row.pk, title=title, project_id=release.project_id, by_person=False)
        row.save(update_fields=["job"])
    return row
