"""Define the background jobs of imports that were uploaded on the page."""

from evaluation.imports import uploaded
from evaluation.imports.models import Import
from jobs.models import Job


def preview_import(import_id: int, job: Job) -> None:
    """Preview an import."""
    uploaded.preview(Import.objects.select_related("project", "created_by").get(pk=import_id), job)


def run_import(import_id: int, job: Job) -> None:
    """Import the files of this import."""
    uploaded.store(Import.objects.select_related("project", "created_by").get(pk=import_id), job)
