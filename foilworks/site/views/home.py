"""Show the home page, and render the page of a crash.

Visitors who are not signed in read at the same address what Foilworks is for. Of this installation, that page shows
only the sample project.
"""

import sys

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from foilworks.core.projects.access import TIME_TO_RESTORE, deleted_projects, may_create_projects
from foilworks.core.projects.crowd_entry import CROWD_PLACE_KEY, study_entered_by
from foilworks.core.projects.demo_accounts import published_accounts
from foilworks.site.dashboard.overview import projects_of
from foilworks.site.server.outages import RETRY_AFTER, is_away, is_full
from foilworks.site.views.sample_ladder import sample_ladder


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        has_demo = bool(published_accounts())
        context = {"has_demo": has_demo, "ladder": sample_ladder() if has_demo else None}
        return render(request, "foilworks/landing.html", context)
    in_crowd = CROWD_PLACE_KEY in request.session
    cards, may_create = projects_of(request.user, in_crowd=in_crowd), may_create_projects(request.user)
    # Only researchers may create projects, and only they may restore one.
    deleted = list(deleted_projects(request.user)) if may_create else []
    for project in deleted:
        project.gone_at = project.deleted_at + TIME_TO_RESTORE
    context = {
        "cards": [card for card in cards if card.project.archived_at is None],
        "archived": [card for card in cards if card.project.archived_at is not None],
        "deleted": deleted,
        "may_create": may_create,
        "study": study_entered_by(request.user) if in_crowd and not cards else None,
    }
    return render(request, "projects/home.html", context)


def crashed(request: HttpRequest) -> HttpResponse:
    """Answer 500 as Django's `handler500`, inside its `except`, with the id of X-Request-ID and the log.

    503 if the disk is full or the database is unavailable: the request is fine and can be sent again.
    """
    error = sys.exception()
    page_context = {
        "request_id": getattr(request, "request_id", ""),
        "is_full": is_full(error),
        "is_away": is_away(error),
    }
    status = 503 if page_context["is_full"] or page_context["is_away"] else 500
    response = HttpResponse(render_to_string("500.html", {**page_context, "status": status}), status=status)
    if status == 503:
        response.headers["Retry-After"] = RETRY_AFTER
    return response
