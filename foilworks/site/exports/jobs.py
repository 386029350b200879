"""Define the background job that computes tables and figures of a new release, so that an export finds them stored."""

from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.site.exports.collect import collect_release


def compute_tables(release_id: int, job: Job) -> None:
    """Store each table and figure by the fingerprint of its inputs.

    If votes change later, the next export computes them again.
    """
    progress(job, 0, 1, "computing")
    for release in Release.objects.filter(pk=release_id).select_related("project"):
        for figure in collect_release(release).papers.figures.values():
            figure.drawn()
    progress(job, 1, 1, "done")
