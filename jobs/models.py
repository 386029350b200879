"""One row a job: what the queue must do, how far it is, and what people are told. Redis only carries its id.

A shard is a job with a parent: it has its own attempts, lease and heartbeat, and does one part of the parent's work.
"""

import uuid

from django.db import models


class JobState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    # Its shards do the work; it is taken up again when none of them is open.
    SPREAD = "spread"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN_STATES = (JobState.WAITING, JobState.RUNNING, JobState.SPREAD)


class Job(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # "generation.jobs.run_generation": called with target_id and this row; JSON only, nothing is pickled.
    dotted = models.CharField(max_length=120)
    target_id = models.BigIntegerField()
    queue = models.CharField(max_length=20, default="default")
    title = models.CharField(max_length=200, blank=True)
    # No foreign key: jobs stands below projects and does not know who is above.
    project_id = models.BigIntegerField(null=True, blank=True)
    # Of a shard: whose part it does, which one, and what that is (JSON; ids and places, no content).
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="shards")
    number = models.PositiveIntegerField(default=0)
    payload = models.JSONField(default=dict, blank=True)
    # The model that the work needs, as any text; a worker that has it loaded takes such work first.
    route = models.CharField(max_length=600, blank=True)
    # The request that asked for it, for who reads logs; empty where a command did.
    request_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    # Who works on it, or did last, and what it cost: seconds of decode, wait, compute and write, counts, halvings.
    worker = models.CharField(max_length=120, blank=True)
    measured = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.WAITING)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)
    # The fencing token (`jobs.lease`): it only ever rises, whoever starts the job again.
    attempts = models.PositiveIntegerField(default=0)
    # How many attempts, since somebody last started it, ended because the worker died or the database was away.
    losses = models.PositiveIntegerField(default=0, db_default=0)
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
        return self.state not in OPEN_STATES

    @property
    def shown_state(self) -> str:
        """The state in people's words: what is spread over shards is running."""
        return JobState.RUNNING if self.state == JobState.SPREAD else self.state

    @property
    def share(self) -> float:
        """Done over total in 0..1; 0 while the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else 0.0
