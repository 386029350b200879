"""What a person sees first: their projects, their roles there, and what waits for them. It looks over all apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.overview import projects_of
from projects.access import may_create_projects


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context = {"cards": projects_of(request.user), "may_create": may_create_projects(request.user)}
    return render(request, "projects/home.html", context)
