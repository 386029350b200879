"""Show the named views of the list of a page."""

from typing import Any

from django import template
from django.template import RequestContext

from foilworks.core.projects.actions.saved_views import MAX_NAME, views_of

register = template.Library()


@register.inclusion_tag("projects/_saved_views.html", takes_context=True)
def saved_views(context: RequestContext) -> dict[str, Any]:
    """Return the person's views of this list. One query; none for a list that belongs to no project alone."""
    request, listing = context["request"], context["listing"]
    project, match = getattr(request, "project", None), request.resolver_match
    if project is None or set(match.kwargs) != {"slug"}:
        return {}
    return {
        "views": views_of(project, request.user, match.view_name),
        "project": project,
        "page": match.view_name,
        "query": listing.query.removesuffix("&"),
        "max_name": MAX_NAME,
        "csrf_token": context.get("csrf_token"),
    }
