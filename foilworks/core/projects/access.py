"""Access to projects: views and actions get projects only here; apps above build their own lookups on it.

Also the seeds of draws, such as the order of two texts: nobody has access to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from foilworks.core.projects.errors import AccessDenied, ConsentNeeded, NotAMember, ProjectError, SecondFactorNeeded
from foilworks.core.projects.models import Membership, Project, Role, SecondFactor, User

Row = TypeVar("Row")
ALL_ROLES = tuple(Role.values)
# How long after its deletion a project can be restored.
TIME_TO_RESTORE = timedelta(days=7)


@dataclass(frozen=True)
class Limits:
    """What a token allows of its person's rights: one project, one role (None, empty: all)."""

    project_id: int | None = None
    role: str = ""


def limits_of(person: User) -> Limits:
    """Return the limits of the token in use; no limits for a person who signed in."""
    return getattr(person, "limits", None) or Limits()


def roles_in(person: User, project: Project) -> frozenset[str]:
    """Return the person's roles in the project; a site administrator has all of them. Cached for the request.

    Nobody has a role in a deleted project.
    """
    if not person.is_authenticated or not person.is_active or project.deleted_at is not None:
        return frozenset()
    limits = limits_of(person)
    if limits.project_id not in (None, project.pk):
        return frozenset()
    roles = _effective_roles(person, project)
    return roles & {limits.role} if limits.role else roles


def _effective_roles(person: User, project: Project) -> frozenset[str]:
    return frozenset(Role.values) if person.is_superuser else frozenset(_memberships(person, project))


def _memberships(person: User, project: Project) -> dict[str, int]:
    """Role -> the version of the consent text that the person agreed to. Cached on the person for a request."""
    cache = person.__dict__.setdefault("_roles_by_project", {})
    if project.pk not in cache:
        mine = Membership.objects.filter(project=project.pk, person=person.pk)
        cache[project.pk] = dict(mine.values_list("role", "consent_version"))
    return cache[project.pk]


def remember_roles(person: User, project: Project, consented: dict[str, int]) -> None:
    """Cache what the caller has read with other rows: role -> the version of the consent text."""
    person.__dict__.setdefault("_roles_by_project", {})[project.pk] = consented


def forget_roles(person: User) -> None:
    """Clear the cached roles after memberships have changed within the request."""
    person.__dict__.pop("_roles_by_project", None)


def needs_consent(person: User, project: Project) -> bool:
    """Return whether the person must accept the newest consent text; never researchers or administrators."""
    if not project.consent_version or not person.is_authenticated or person.is_superuser:
        return False
    version_by_role = _memberships(person, project)
    return (
        bool(version_by_role)
        and Role.RESEARCHER not in version_by_role
        and max(version_by_role.values()) < project.consent_version
    )


def require_consent(person: User, project: Project) -> None:
    if needs_consent(person, project):
        raise ConsentNeeded(
            _("Before you continue, read and accept the consent text of %(project)s.") % {"project": project.name},
            project.slug,
        )


def require_role(person: User, project: Project, *roles: str) -> None:
    """Raise AccessDenied unless the person has one of `roles` (empty: any) in the project; 404 if it is deleted."""
    if project.deleted_at is not None:
        raise NotAMember(_("Project not found."), project)
    if not roles_in(person, project) & frozenset(roles or Role.values):
        raise AccessDenied(
            _("You need the role %(roles)s in the project %(project)s. Ask its researcher for it.")
            % {"roles": " / ".join(roles or Role.values), "project": project.name},
            project,
            roles,
        )


def require_researcher(person: User | None, project: Project) -> None:
    """Raise AccessDenied unless the person is a researcher of the project. None, the operator, may."""
    if person is not None:
        require_role(person, project, Role.RESEARCHER)


def or_404(row: Row | None, problem: str) -> Row:
    """Return the row; without one, raise Http404 with the problem."""
    if row is None:
        raise Http404(problem)
    return row


def get_project(person: User, slug: str, *roles: str, consenting: bool = False) -> Project:
    """The project named `slug`, for a person who holds one of `roles` in it and has agreed to its consent text.

    A project that the person is not a member of does not exist for them (404); a member without the role gets 403.
    `consenting`: on the pages that ask for the consent or end it.
    """
    project = or_404(Project.objects.filter(slug=slug, deleted_at=None).first(), _("Project not found."))
    require_access(person, project, *roles, consenting=consenting)
    return project


def require_access(person: User, project: Project, *roles: str, consenting: bool = False) -> None:
    """Raise what get_project raises for a project that the caller has."""
    if not roles_in(person, project):
        raise NotAMember(_("Project not found."), project)
    require_role(person, project, *roles)
    if not consenting:
        require_consent(person, project)
    if settings.REQUIRE_TWO_FACTOR and Role.RESEARCHER in roles_in(person, project):
        require_second_factor(person)


def get_row(rows: QuerySet[Row], person: User, slug: str, *roles: str, at: str = "project", **which: Any) -> Row:
    """The one of `rows` in the project `slug`, for a person whom get_project lets in; `at`: the rows' way to it.

    Rows of another project do not exist (404).
    """
    return get_object_or_404(rows, **{at: get_project(person, slug, *roles)}, **which)


def enter_project(request: HttpRequest, row: Any) -> Any:
    """Set the page's project to the row's, and return the row."""
    request.project = row.project
    return row


def has_second_factor(person: User) -> bool:
    return SecondFactor.objects.filter(person=person.pk, confirmed_at__isnull=False).exists()


def require_second_factor(person: User) -> None:
    """Require a second factor of owners if the installation does (`REQUIRE_TWO_FACTOR`)."""
    if not has_second_factor(person):
        raise SecondFactorNeeded(_("Project owners need a second factor on this site. Set one up first."))


def may_create_projects(person: User) -> bool:
    """Return whether the person may create projects: site administrators and researchers of a project."""
    if not person.is_authenticated or not person.is_active:
        return False
    limits = limits_of(person)
    if limits.project_id or limits.role not in ("", Role.RESEARCHER):
        return False
    return person.is_superuser or person.memberships.filter(role=Role.RESEARCHER).exists()


def require_to_create_projects(person: User) -> None:
    if not may_create_projects(person):
        raise AccessDenied(_("Only site administrators and researchers can create projects. Ask one of them."))


def visible_projects(person: User) -> QuerySet[Project]:
    """Return the person's projects without deleted ones; all projects for a site administrator."""
    limits = limits_of(person)
    rows = Project.objects.filter(deleted_at=None)
    rows = rows.filter(pk=limits.project_id) if limits.project_id else rows
    if person.is_superuser:
        return rows
    memberships = Membership.objects.filter(person=person)
    if limits.role:
        memberships = memberships.filter(role=limits.role)
    return rows.filter(pk__in=memberships.values("project"))


def deleted_projects(person: User) -> QuerySet[Project]:
    """Return the deleted projects that the person can still restore: as their researcher or a site administrator."""
    rows = Project.objects.filter(deleted_at__gt=timezone.now() - TIME_TO_RESTORE)
    if person.is_superuser:
        return rows
    own_memberships = Membership.objects.filter(person=person, role=Role.RESEARCHER)
    return rows.filter(pk__in=own_memberships.values("project"))


def checked_roles(roles: Sequence[str]) -> tuple[str, ...]:
    """Return the roles, each once, in the table's order. ProjectError: none, or an unknown one."""
    unknown = [role for role in roles if role not in Role.values]
    if unknown or not roles:
        raise ProjectError(_("Choose at least one role from: %(list)s.") % {"list": ", ".join(Role.values)})
    return tuple(role for role in Role.values if role in roles)


def secret_seed(purpose: str, *parts: object) -> str:
    """Return 64 hex digits, the same for the same purpose and parts as long as DERIVATION_KEY stays the same.

    They need the installation's secret, even with the source and all row numbers.
    """
    message = "\x1f".join(map(str, parts))
    key = settings.DERIVATION_KEY
    return salted_hmac(f"foilworks.{purpose}", message, secret=key, algorithm="sha256").hexdigest()
