"""The subtests of a project with their rules and counts, and the form of a new one."""

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from corpus.actions.create_subtest import create_subtest
from corpus.forms import SubtestForm
from corpus.models import Subtest
from corpus.rules.states import ItemState
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def subtests(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = SubtestForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        made = create_subtest(request.user, project, **form.cleaned_data)
        messages.success(request, _("The subtest %(name)s is made.") % {"name": made.name})
        return redirect("corpus:subtests", project.slug)
    valid = Count("items", filter=Q(items__state=ItemState.VALID))
    rows = Subtest.objects.filter(project=project).select_related("proficiency_subtest")
    context = {"form": form, "subtests": rows.annotate(n_items=Count("items"), n_valid=valid).order_by("name")}
    return render(request, "corpus/subtests.html", context, status=422 if request.method == "POST" else 200)
