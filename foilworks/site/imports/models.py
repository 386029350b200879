"""Store imports that were uploaded on the page."""

from django.db import models

from foilworks.core.projects.models import Project
from foilworks.core.projects.models.requested_jobs import RequestedJob


class Import(RequestedJob):
    """Files that somebody uploaded: previewed by a first job, stored by a second one after confirmation."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="imports")
    # Of foilworks.site.imports.uploads; empty if only videos were uploaded.
    format = models.CharField(max_length=40, blank=True)
    params = models.JSONField(default=dict, blank=True)
    # The uploaded file name, without characters that a path could use.
    file_name = models.CharField(max_length=200, blank=True)
    # Of records on the Hugging Face Hub, hf://datasets/…; empty if a file was uploaded.
    address = models.CharField(max_length=400, blank=True, default="", db_default="")
    licence = models.CharField(max_length=200, blank=True, default="", db_default="")
    n_videos = models.PositiveIntegerField(default=0)
    # Whether stored records that differ become what the file says.
    update = models.BooleanField(default=False)
    # Whether items count as valid because they are published.
    as_published = models.BooleanField(default=False, db_default=False)
    # Shown while the whole file is checked.
    first_records = models.JSONField(null=True, blank=True)
    # The preview, later the result; {"problem": …} if the file cannot be read.
    preview = models.JSONField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    discarded_at = models.DateTimeField(null=True, blank=True)

    class Meta(RequestedJob.Meta):
        app_label = "evaluation"

    def __str__(self) -> str:
        return f"{self.file_name or 'videos'} for {self.project_id}"

    @property
    def state(self) -> str:
        """Return discarded, undone, done, importing, failed, ready (to be confirmed), mapping (columns) or reading."""
        if self.discarded_at:
            return "discarded"
        if self.result is not None and "undone" in self.result:
            return "undone"
        if self.result is not None:
            return "failed" if "problem" in self.result else "done"
        if self.job is not None and self.job.state in {"failed", "cancelled"}:
            return "failed"
        if self.confirmed_at:
            return "importing"
        if self.preview is None:
            return "reading"
        if "problem" in self.preview:
            return "failed"
        return "mapping" if self.is_unmapped else "ready"

    @property
    def is_unmapped(self) -> bool:
        """Report whether it is a table of which nobody said what its columns are; a folder's say it themselves."""
        is_table = self.format == "table" and not self.file_name.endswith("/")
        return is_table and not (self.params.get("mapping") or self.params.get("recipe"))
