"""Errors of generation."""

from foilworks.core.text.errors import ActionableError


class GenerationError(ActionableError):
    """A run, a method or its input is invalid. The message says what to do."""
