"""One row a job: what the queue must do, how far it is, and what people are told. Redis only carries its id."""

import uuid

from django.db import models


class JobState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # "generation.jobs.run_generation": called with target_id and this row; JSON only, nothing is pickled.
    dotted = models.CharField(max_length=120)
    target_id = models.BigIntegerField()
    queue = models.CharField(max_length=20, default="default")
    title = models.CharField(max_length=200, blank=True)
    # No foreign key: jobs stands below projects and does not know who is above.
    project_id = models.BigIntegerField(null=True, blank=True)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.WAITING)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["state", "queue"], name="job_state_queue"),
            models.Index(fields=["project_id", "-created_at"], name="job_of_a_project"),
        ]

    def __str__(self) -> str:
        return f"{self.title or self.dotted} ({self.state})"

    @property
    def is_over(self) -> bool:
        return self.state in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}

    @property
    def share(self) -> float:
        """Done over total in 0..1; 0 while the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else 0.0
