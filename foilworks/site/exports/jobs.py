"""Define the background jobs that write a large export, and that compute tables and figures of a new release."""

import shutil

from evaluation.cached_results.models import CachedResult
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.site.exports.background import name_of, zip_path
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.zipped import zipped


def write_zip_file(row_id: int, job: Job) -> None:
    """Write the zip that `foilworks.site.exports.background` was asked for."""
    row = CachedResult.objects.get(pk=row_id)
    progress(job, 0, 1, "writing")
    release, path = Release.objects.select_related("project").get(pk=row.params["release"]), zip_path(row)
    exporter = row.params["exporter"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipped(release, exporter, name_of(release, exporter), row.params["params"]) as packed:
        partial = path.with_suffix(".part")
        with partial.open("wb") as file:
            shutil.copyfileobj(packed, file)
    partial.replace(path)
    progress(job, 1, 1, "done")


def compute_tables(release_id: int, job: Job) -> None:
    """Store each table and figure by the fingerprint of its inputs.

    If votes change later, the next export computes them again.
    """
    progress(job, 0, 1, "computing")
    for release in Release.objects.filter(pk=release_id).select_related("project"):
        for figure in collect_release(release).papers.figures.values():
            figure.drawn()
    progress(job, 1, 1, "done")
