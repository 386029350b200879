"""Manage the members of a project, for its researchers."""

from typing import Any, Literal

from django.db import transaction
from django.db.models import Prefetch
from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from annotation.access import member_for
from annotation.actions import people
from foilworks.core.projects.access import get_project
from foilworks.core.projects.actions.members import add_member
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import ApiToken, Membership, Project, Role, User
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Slug, Word

router = Router(tags=["members"])
RoleName = Literal["annotator", "reviewer", "validator", "researcher"]
# Days of the token of a new account; its person can create longer ones.
GIVEN_DAYS = 30


class MemberOut(Schema):
    id: int
    username: str
    roles: list[str]
    is_active: bool


class Added(MemberOut):
    password: str | None = Field(None, description="temporary password of a new account, returned once")
    token: str | None = Field(None, description="token of a new account, returned once; scope: read and work")


class MemberIn(Schema):
    username: Word
    roles: list[RoleName] = Field(min_length=1, max_length=4)
    new_account: bool = False
    with_token: bool = Field(False, description="only for a new account: also return a token, for simulated people")


class MembersIn(Schema):
    members: list[MemberIn] = Field(min_length=1, max_length=100)


class RolesIn(Schema):
    roles: list[RoleName] = Field(min_length=1, max_length=4)


class MembersAsked(Listed):
    order: Literal["username", "-username"] = "username"
    role: RoleName | None = None


def member_out(person: User, roles: list[str]) -> dict[str, Any]:
    return {"id": person.pk, "username": person.username, "roles": sorted(roles), "is_active": person.is_active}


def _roles(project: Project, person: User) -> list[str]:
    return list(Membership.objects.filter(project=project, person=person).values_list("role", flat=True))


@router.get("", response=reads(Page[MemberOut]))
def list_members(request: HttpRequest, slug: Slug, query: Query[MembersAsked]) -> dict[str, Any]:
    """List the members of the project with their roles."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    memberships = Membership.objects.filter(project=project)
    with_role = memberships.filter(role=query.role) if query.role else memberships
    rows = User.objects.filter(pk__in=with_role.values("person")).prefetch_related(
        Prefetch("memberships", memberships, to_attr="here")
    )

    def shown(person: User) -> dict[str, Any]:
        return member_out(person, [membership.role for membership in person.here])

    return page_of(request, rows, query, shown, order=query.order)


@router.post("", response=writes(Added, 201))
@once
def create_member(request: HttpRequest, slug: Slug, body: MemberIn) -> Status:
    """Add an existing account, or create one.

    The response contains the temporary password of a new account and, if requested, a token; both are returned once.
    """
    project = get_project(request.user, slug, Role.RESEARCHER)
    with transaction.atomic():
        return Status(201, _added(request, project, body))


@router.post("/bulk", response=writes(list[Added], 201))
@once
def create_members(request: HttpRequest, slug: Slug, body: MembersIn) -> Status:
    """Add several people as `create_member` does: all of them, or none."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    with transaction.atomic():
        return Status(201, [_added(request, project, member) for member in body.members])


def _added(request: HttpRequest, project: Project, body: MemberIn) -> dict[str, Any]:
    if body.with_token and not body.new_account:
        raise ProjectError("only a new account gets a token; other people create tokens on the page Tokens")
    added = add_member(request.user, project, body.username, body.roles, new_account=body.new_account)
    secret = None
    if body.with_token:
        token_fields = {"name": "returned with the account", "scope": ApiToken.Scope.WORK, "days": GIVEN_DAYS}
        secret = make_token(added.person, made_by=request.user, **token_fields).secret
    secrets = {"password": added.password or None, "token": secret}
    return {**member_out(added.person, body.roles), **secrets}


@router.get("/{int:pk}", response=reads(MemberOut))
def read_member(request: HttpRequest, slug: Slug, pk: int) -> dict[str, Any]:
    """Get one member."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    person = member_for(request.user, project, pk)
    return member_out(person, _roles(project, person))


@router.patch("/{int:pk}", response=writes(MemberOut))
@once
def change_roles(request: HttpRequest, slug: Slug, pk: int, body: RolesIn) -> dict[str, Any]:
    """Replace the member's roles. Tasks that they hold in a removed role are released."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    people.change_roles(request.user, project, pk, body.roles)
    person = User.objects.get(pk=pk)
    return member_out(person, _roles(project, person))


@router.delete("/{int:pk}", response=writes(None, 204))
@once
def remove_member(request: HttpRequest, slug: Slug, pk: int) -> Status:
    """Remove the member; their work stays."""
    people.remove_member(request.user, get_project(request.user, slug, Role.RESEARCHER), pk)
    return Status(204, None)
