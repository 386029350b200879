"""Define the background jobs of imports that were uploaded on the page."""

from foilworks.core.jobs.models import Job
from foilworks.core.jobs.spread import Partly
from foilworks.site.imports import upload_jobs
from foilworks.site.imports.models import Import


def preview_import(import_id: int, job: Job) -> None:
    """Preview an import."""
    upload_jobs.preview(Import.objects.select_related("project", "created_by").get(pk=import_id), job)


def run_import(import_id: int, job: Job) -> Partly | None:
    """Import the files of this import."""
    return upload_jobs.store(Import.objects.select_related("project", "created_by").get(pk=import_id), job)


def undo_import(import_id: int, job: Job) -> None:
    """Undo this import."""
    upload_jobs.undo(Import.objects.select_related("project", "created_by").get(pk=import_id), job)
