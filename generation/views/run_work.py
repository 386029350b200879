"""A run's work stopped, taken up again, and the captions it made nothing of."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from generation.access import get_run
from generation.actions.resume_run import resume_run as resume
from generation.actions.stop_run import stop_run as stop
from generation.forms import BudgetForm
from generation.methods.registry import METHODS
from generation.run_counts import without_foil
from projects.access import enter_project

PER_PAGE = 50


@require_POST
def resume_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_run(request.user, slug, pk))
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The budget is not a whole number; nothing was started."))
        return redirect("generation:run", found.project.slug, found.pk)
    resume(request.user, found, budget=form.given())
    messages.success(request, _("The run goes on."))
    return redirect("generation:run", found.project.slug, found.pk)


@require_POST
def stop_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_run(request.user, slug, pk))
    stop(request.user, found)
    messages.success(request, _("The run is stopped. What it has made stays."))
    return redirect("generation:run", found.project.slug, found.pk)


@require_safe
def run_skipped(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Captions without a foil, and those with fewer than asked for; `?why=` narrows them to one reason."""
    found = enter_project(request, get_run(request.user, slug, pk))
    why = request.GET.get("why", "")
    page = Paginator(without_foil(found, why), PER_PAGE).get_page(request.GET.get("page"))
    context = {"run": found, "entry": METHODS.get(found.method), "page": page, "why": why}
    context["query"] = f"{urlencode({'why': why})}&" if why else ""
    return render(request, "generation/run_skipped.html", context)
