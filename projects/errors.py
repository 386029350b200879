"""What can go wrong with projects and people."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from django.http import Http404

from text.errors import ActionableError

if TYPE_CHECKING:
    from django.db.models import Model

    from projects.models import Project


class ProjectError(ActionableError):
    """A project or membership cannot be as asked; the message says what to do."""


class AccessDenied(ActionableError):
    """The person may not do this; pages answer 403, commands exit 1. Pages leave an audit row of it.

    `roles`: any of them in the project would have been enough.
    """

    def __init__(self, message: str, project: "Project | None" = None, roles: Collection[str] = ()) -> None:
        super().__init__(message)
        self.project, self.roles = project, roles


class EntryRefused(AccessDenied):
    """A way in that does not hold: `why` (a word) is in the audit row, beside the `project` and `target` meant."""

    def __init__(
        self, message: str, why: str, *, project: "Project | None" = None, target: "Model | None" = None
    ) -> None:
        super().__init__(message, project)
        self.why, self.target = why, target


class TooManyTries(AccessDenied):
    """Tried too often; pages answer 429."""


class ConsentNeeded(AccessDenied):
    """The person has not agreed to what the project's members agree to; pages send them there."""

    def __init__(self, message: str, slug: str) -> None:
        super().__init__(message)
        self.slug = slug


class SecondFactorNeeded(AccessDenied):
    """Owners need a second factor here and this one has none; pages send them to set it up."""


class NotAMember(Http404):
    """The project exists, but not for this person."""

    def __init__(self, message: str, project: "Project") -> None:
        super().__init__(message)
        self.project = project
