"""What can go wrong with models."""

from text.errors import ActionableError


class HubError(ActionableError):
    """A model cannot be named, loaded or run as asked; the message says what to do."""
