"""Jobs of projects."""

from foilworks.core.jobs.models import Job


def left_to_sender(target_id: int, job: Job) -> None:
    """Do nothing: rows that 0.3 queued for a webhook or a mail are due in the outbox, too."""
