"""Define the background jobs of public pages."""

from corpus.models import Release
from evaluation.publishing.models import PublicPage
from jobs.models import Job


def build_archive(page_id: int, job: Job) -> None:
    """Create the archive that visitors of a public page download."""
    from evaluation.publishing.archive import build

    build(PublicPage.objects.select_related("release__project").get(pk=page_id), job)


def build_folder(release_id: int, job: Job) -> None:
    """Write the data set folder of a release for download."""
    from evaluation.publishing.folders import build

    build(Release.objects.select_related("project", "created_by").get(pk=release_id), job)
