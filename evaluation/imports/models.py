"""Imports that were uploaded on the page."""

from django.db import models

from projects.models import Project
from projects.models.requested_jobs import RequestedJob


class Import(RequestedJob):
    """Files that somebody sent by the page: looked at in a job first, stored in a second one when they say so."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="imports")
    # Of evaluation.imports.uploads; empty where videos came alone.
    format = models.CharField(max_length=40, blank=True)
    params = models.JSONField(default=dict, blank=True)
    # As stored: the sender's name with everything taken out of it that a path could use.
    file_name = models.CharField(max_length=200, blank=True)
    n_videos = models.PositiveIntegerField(default=0)
    # Whether records that are stored otherwise become what the file says.
    update = models.BooleanField(default=False)
    # Whether items count as valid on their publisher's word.
    as_published = models.BooleanField(default=False, db_default=False)
    # What it would do, and what it did; {"problem": …} where the file cannot be read.
    preview = models.JSONField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    discarded_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.file_name or 'videos'} for {self.project_id}"

    @property
    def state(self) -> str:
        """discarded, done, importing, failed, ready (to be confirmed) or reading."""
        if self.discarded_at:
            return "discarded"
        if self.result is not None:
            return "failed" if "problem" in self.result else "done"
        if self.job is not None and self.job.state in {"failed", "cancelled"}:
            return "failed"
        if self.confirmed_at:
            return "importing"
        if self.preview is None:
            return "reading"
        return "failed" if "problem" in self.preview else "ready"
