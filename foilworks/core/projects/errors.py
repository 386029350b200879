"""Errors about projects and people."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from django.http import Http404

from foilworks.core.text.errors import ActionableError

if TYPE_CHECKING:
    from django.db.models import Model

    from foilworks.core.projects.models import Project


class ProjectError(ActionableError):
    """A project or membership is not possible as requested; the message says what to do."""


class AccessDenied(ActionableError):
    """The person may not do this; pages answer 403, commands exit 1. Pages leave an audit row of it.

    `roles`: any of them in the project would have been enough.
    """

    def __init__(self, message: str, project: "Project | None" = None, roles: Collection[str] = ()) -> None:
        super().__init__(message)
        self.project, self.roles = project, roles


class EntryRefused(AccessDenied):
    """A link or form that does not let the person in.

    `why` (a word) is in the audit row, with the `project` and `target`.
    """

    def __init__(
        self, message: str, why: str, *, project: "Project | None" = None, target: "Model | None" = None
    ) -> None:
        super().__init__(message, project)
        self.why, self.target = why, target


class TooManyTries(AccessDenied):
    """Too many attempts; pages answer 429."""


class ConsentNeeded(AccessDenied):
    """The person has not accepted the project's consent text; pages send them there."""

    def __init__(self, message: str, slug: str) -> None:
        super().__init__(message)
        self.slug = slug


class SecondFactorNeeded(AccessDenied):
    """This site requires a second factor of owners; pages send the person to set it up."""


class NotAMember(Http404):
    """The project exists, but the person is not a member."""

    def __init__(self, message: str, project: "Project") -> None:
        super().__init__(message)
        self.project = project
