"""The table of jobs: one row per job with its function, progress and messages. Redis only carries its id.

A shard is a job with a parent: it has its own attempts, lease and heartbeat, and does one part of the parent's job.
"""

import uuid

from django.conf import settings
from django.db import models


class JobState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    # Its shards do the work; it resumes when none of them is open.
    SPREAD = "spread"
    DONE = "done"
    # It ended, but too much is missing from its result.
    PARTLY = "partly"
    FAILED = "failed"
    CANCELLED = "cancelled"


# The queue that Ray runs where RAY_ADDRESS is set.
RAY_QUEUE = "gpu"
OPEN_STATES = (JobState.WAITING, JobState.RUNNING, JobState.SPREAD)


class Job(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # The name of a job ("scoring.run"). Its function is called with target_id and this row; messages are JSON.
    dotted = models.CharField(max_length=120)
    target_id = models.BigIntegerField()
    queue = models.CharField(max_length=20, default="default")
    title = models.CharField(max_length=200, blank=True)
    # Not a foreign key: package jobs is below projects and must not import it.
    project_id = models.BigIntegerField(null=True, blank=True)
    # For a shard: its parent, its number, and its part (JSON; ids and positions, no content).
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="shards")
    number = models.PositiveIntegerField(default=0)
    payload = models.JSONField(default=dict, blank=True)
    # The model that the job needs, as any text; a worker with this model loaded takes such jobs first.
    route = models.CharField(max_length=600, blank=True)
    # The request that queued it, for log readers; empty for commands.
    request_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    # Its current or last worker, and its cost: seconds of decode, wait, compute and write, counts, halvings.
    worker = models.CharField(max_length=120, blank=True)
    measured = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.WAITING)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)
    # The fencing token (`foilworks.core.jobs.lease`): it only increases, also when the job is restarted.
    attempts = models.PositiveIntegerField(default=0)
    # Attempts since the last start that ended because the worker died or the database was unreachable.
    losses = models.PositiveIntegerField(default=0, db_default=0)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # When its end was announced to webhooks; of attempts since the last start.
    announced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["state", "queue"], name="job_state_queue"),
            models.Index(fields=["project_id", "-created_at"], name="job_of_a_project"),
        ]

    def __str__(self) -> str:
        return f"{self.title or self.dotted} ({self.state})"

    @property
    def is_over(self) -> bool:
        return self.state not in OPEN_STATES

    @property
    def has_result(self) -> bool:
        """Return whether the job ran to its end."""
        return self.state in {JobState.DONE, JobState.PARTLY}

    @property
    def is_for_ray(self) -> bool:
        """Return whether the Ray cluster runs this job, and not a worker of `foilworks up`."""
        return bool(settings.RAY_ADDRESS) and self.queue == RAY_QUEUE

    @property
    def shown_state(self) -> str:
        """Return the state to display: a job spread over shards is running."""
        return JobState.RUNNING if self.state == JobState.SPREAD else self.state

    @property
    def share(self) -> float:
        """Return the progress in 0..1; 0 while the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else 0.0
