"""Describe the token of the request: its person and what it gives access to."""

from datetime import datetime

from django.http import HttpRequest
from ninja import Router, Schema

from foilworks.core.projects.access import roles_in, visible_projects
from foilworks.site.api.answers import reads

router = Router(tags=["me"])


class RolesIn(Schema):
    project: str
    roles: list[str]


class Me(Schema):
    username: str
    token: str
    scope: str
    expires_at: datetime
    projects: list[RolesIn]


@router.get("", response=reads(Me))
def me(request: HttpRequest) -> Me:
    """Get the token's owner, scope, expiry and the projects that it can access."""
    token, person = request.auth, request.user
    projects = [
        RolesIn(project=project.slug, roles=sorted(roles_in(person, project))) for project in visible_projects(person)
    ]
    return Me(
        username=person.username, token=token.name, scope=token.scope, expires_at=token.expires_at, projects=projects
    )
