"""What can go wrong with making foils."""

from text.errors import ActionableError


class GenerationError(ActionableError):
    """A run, a method or its input is not as needed; the message says what to do."""
