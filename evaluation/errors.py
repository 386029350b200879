"""What a person can act on when scores, votes or reports cannot be read or made."""

from text.errors import ActionableError


class EvaluationError(ActionableError):
    """A score, vote or item file, a report or a run that cannot be used as it stands; the message says what to do."""
