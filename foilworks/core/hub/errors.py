"""Errors of models."""

from foilworks.core.text.errors import ActionableError


class HubError(ActionableError):
    """A model cannot be named, loaded or run as requested; the message says what to do."""


class ClipError(HubError):
    """A model cannot process this one clip: the clip is listed with the message, and the others are scored."""
