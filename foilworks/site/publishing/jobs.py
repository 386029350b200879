"""Define the background jobs of public pages."""

from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.site.publishing.models import PublicPage


def build_archive(page_id: int, job: Job) -> None:
    """Create the archive that visitors of a public page download."""
    from foilworks.site.publishing.archive import build

    build(PublicPage.objects.select_related("release__project").get(pk=page_id), job)


def build_folder(release_id: int, job: Job) -> None:
    """Write the data set folder of a release for download."""
    from foilworks.site.publishing.folders import build

    build(Release.objects.select_related("project", "created_by").get(pk=release_id), job)
