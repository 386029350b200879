"""Add a comment to an item, and resolve or reopen one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.actions.comments import add_comment, set_resolved
from annotation.errors import AnnotationError
from foilworks.core.projects.access import get_project, roles_in
from foilworks.core.projects.models import Project, Role
from foilworks.core.projects.pages import address_of

ROLES = (Role.RESEARCHER, Role.REVIEWER)


@require_POST
def comment(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, *ROLES)
    try:
        add_comment(request.user, project, pk, request.POST.get("text", ""))
    except AnnotationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Comment added."))
    return _back(request, project, pk)


@require_POST
def resolve_comment(request: HttpRequest, slug: str, pk: int, comment: int) -> HttpResponse:
    """Mark a comment as resolved; with `resolved=0` reopen it."""
    project = request.project = get_project(request.user, slug, *ROLES)
    resolved = request.POST.get("resolved") != "0"
    if set_resolved(request.user, project, pk, comment, resolved=resolved):
        messages.success(request, _("Comment resolved.") if resolved else _("Comment reopened."))
    return _back(request, project, pk)


def _back(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Return to the page of the item that the person may open, at its comments."""
    is_researcher = Role.RESEARCHER in roles_in(request.user, project)
    arguments = (project.slug, pk)
    page = address_of("item", *arguments) if is_researcher else reverse("annotation:disputed_item", args=arguments)
    return redirect(f"{page}#comments")
