"""What can go wrong with people's work; every message says what to do."""

from text.errors import ActionableError


class AnnotationError(ActionableError):
    """A claim, a submit or a decision cannot be as asked."""


class Conflict(AnnotationError):
    """The row was changed by somebody else in between: nothing was written, reload and look again."""


class WorkRefused(AnnotationError):
    """The rules forbid this person this piece of work; `refusal` is the code (annotation.rules.eligibility)."""

    def __init__(self, message: str, refusal: str) -> None:
        super().__init__(message)
        self.refusal = refusal


class NotAdmitted(AnnotationError):
    """The person may not validate for now; `refusal` is a key of annotation.messages.ADMISSION."""

    def __init__(self, message: str, refusal: str) -> None:
        super().__init__(message)
        self.refusal = refusal


class LeaseEnded(AnnotationError):
    """The lease is over, so it cannot be renewed; what was written can still be submitted and is kept."""
