"""Errors while processes are started."""

from foilworks.core.text.errors import ActionableError


class SupervisorError(ActionableError):
    """A process of the home cannot be started; the message says what to do."""
