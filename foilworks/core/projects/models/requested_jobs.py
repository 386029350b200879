"""The columns of a row that stands for work: somebody asks for it, a job does it."""

from django.db import models

from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import User


class RequestedJob(models.Model):
    """The newest first, where the table says nothing else."""

    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["-id"]
