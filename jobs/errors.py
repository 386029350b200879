"""What can go wrong with the queue."""

from text.errors import ActionableError


class JobError(ActionableError):
    """A job cannot be queued or run; the message says what to do."""
