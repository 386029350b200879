"""Define the error for scores, votes or reports that cannot be read or computed, which a person can fix."""

from foilworks.core.text.errors import ActionableError


class EvaluationError(ActionableError):
    """A score, vote or item file, a report or a run that cannot be used as it is; the message says what to do."""
