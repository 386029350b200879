"""Define the background job that computes the tables of a new release, so that an export finds them stored."""

from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.site.exports.collect import collect_release


def compute_tables(release_id: int, job: Job) -> None:
    """Store each table by the fingerprint of its inputs; if votes change later, the next export computes it again."""
    progress(job, 0, 1, "computing")
    for release in Release.objects.filter(pk=release_id).select_related("project"):
        collect_release(release)
    progress(job, 1, 1, "done")
