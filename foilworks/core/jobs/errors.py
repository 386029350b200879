"""Errors of the queue."""

from foilworks.core.text.errors import ActionableError


class JobError(ActionableError):
    """A job cannot be queued or run. The message says what to do."""
