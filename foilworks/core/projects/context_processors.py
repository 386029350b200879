"""What every page of a project shows: its name, the person's roles in it, whether its people are simulated."""

from typing import Any

from django.http import HttpRequest

from foilworks.core.projects.access import roles_in


def project_context(request: HttpRequest) -> dict[str, Any]:
    """Views set `request.project`; without it (home, sign-in) the templates see None and no roles."""
    project = getattr(request, "project", None)
    if project is None:
        return {"project": None, "roles": frozenset()}
    return {"project": project, "roles": roles_in(request.user, project)}
