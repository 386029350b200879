"""The form of a new project."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from projects.access import require_to_create_projects
from projects.actions.create_project import create_project as create
from projects.forms.accounts import ProjectForm


@require_http_methods(["GET", "HEAD", "POST"])
def create_project(request: HttpRequest) -> HttpResponse:
    require_to_create_projects(request.user)
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        project = create(request.user, **form.cleaned_data)
        messages.success(request, _("The project %(name)s is made; you are its researcher.") % {"name": project.name})
        return redirect("dashboard:dashboard", project.slug)
    return render(request, "projects/create_project.html", {"form": form}, status=422 if form.errors else 200)
