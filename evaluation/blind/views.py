"""Handle the limits and the models of the blind audit page."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from evaluation.blind.actions.blind import score_blind, set_blind_bars
from evaluation.blind.forms import BarsForm, BlindScorerForm
from projects.access import get_project
from projects.models import Role
from text.errors import ActionableError


@require_POST
def blind_bars(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    form = BarsForm(project, request.POST)
    if form.is_valid():
        set_blind_bars(request.user, project, form.cleaned_data["bar"], form.of_subtests())
        messages.success(request, _("The limits are saved."))
    else:
        messages.error(request, _("The limit must be between 0.5 (chance) and 1. Nothing was changed."))
    return redirect("reports:report", slug, "blind")


@require_POST
def blind_scorer(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    form = BlindScorerForm(request.POST)
    if form.is_valid():
        try:
            scorer = score_blind(request.user, project, form.cleaned_data["spec"])
        except ActionableError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("%(label)s scores the texts in the background.") % {"label": scorer.label})
    else:
        messages.error(request, _("Enter a text-only model."))
    return redirect("reports:report", slug, "blind")
