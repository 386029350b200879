"""What can go wrong with models."""

from text.errors import ActionableError


class HubError(ActionableError):
    """A model cannot be named, loaded or run as asked; the message says what to do."""


class ClipError(HubError):
    """A model cannot take this one clip: it is listed with the message, and the others are scored."""
