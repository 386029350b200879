"""What can go wrong with a copy."""

from text.errors import ActionableError


class BackupError(ActionableError):
    """A copy cannot be made, or cannot be put back; the message says what to do."""
