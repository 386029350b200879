"""What a person sees first: their projects, their roles there, and what waits for them. It looks over all apps.

Who is not signed in reads at the same address what Foilworks is for; nothing of this installation stands there.
"""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.dashboard.overview import projects_of
from projects.access import may_create_projects
from projects.demo_accounts import published_accounts


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        return render(request, "foilworks/landing.html", {"has_demo": bool(published_accounts())})
    context = {"cards": projects_of(request.user), "may_create": may_create_projects(request.user)}
    return render(request, "projects/home.html", context)
