"""Errors about people's work; every message says what to do."""

from foilworks.core.text.errors import ActionableError


class AnnotationError(ActionableError):
    """A claim, a submission or a decision is not possible as requested."""


class Conflict(AnnotationError):
    """Somebody else changed the row meanwhile: nothing was written. Reload and check again."""


class OtherStage(AnnotationError):
    """The task belongs to another stage than the submit."""


class WorkRefused(AnnotationError):
    """The rules do not allow this person to do this task; `refusal` is the code (annotation.rules.eligibility)."""

    def __init__(self, message: str, refusal: str) -> None:
        super().__init__(message)
        self.refusal = refusal


class NotAdmitted(AnnotationError):
    """The person may not validate for now; `refusal` is a key of annotation.messages.ADMISSION."""

    def __init__(self, message: str, refusal: str) -> None:
        super().__init__(message)
        self.refusal = refusal


class LeaseEnded(AnnotationError):
    """The lease has ended and cannot be renewed. The work can still be submitted, and is stored."""
