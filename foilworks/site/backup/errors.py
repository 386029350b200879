"""Errors of backups."""

from foilworks.core.text.errors import ActionableError


class BackupError(ActionableError):
    """A backup cannot be made or restored; the message says what to do."""
