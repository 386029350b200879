"""Store computed values, cached by the fingerprint of their inputs."""

from django.db import models

from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import Project


class CachedResult(models.Model):
    """One computed value. It is stale when its inputs have a different fingerprint now."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="reports", db_index=False)
    kind = models.CharField(max_length=40)
    params = models.JSONField(default=dict, blank=True)
    params_key = models.CharField(max_length=64, blank=True)
    # Empty until a job has computed it.
    fingerprint = models.CharField(max_length=64, blank=True)
    data = models.JSONField(default=dict, blank=True)
    # The latest job, for values that only jobs compute.
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "evaluation_report"
        constraints = [models.UniqueConstraint(fields=["project", "kind", "params_key"], name="one_report_a_kind")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.project_id}"
