"""Errors of the queue."""

from text.errors import ActionableError


class JobError(ActionableError):
    """A job cannot be queued or run. The message says what to do."""
