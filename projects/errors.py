"""What can go wrong with projects and people."""

from text.errors import ActionableError


class ProjectError(ActionableError):
    """A project or membership cannot be as asked; the message says what to do."""


class AccessDenied(ActionableError):
    """The person may not do this; pages answer 403, commands exit 1."""
