"""Handle the limits and the models of the blind audit page."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from evaluation.blind.actions.score_texts import score_blind
from evaluation.blind.actions.set_limits import set_blind_limits
from evaluation.blind.forms import BarsForm, BlindScorerForm
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError


@require_POST
def blind_bars(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = BarsForm(project, request.POST)
    if not form.is_valid():
        return _refused(request, form, _("Limits"), _("Save limits"))
    set_blind_limits(request.user, project, form.cleaned_data["bar"], form.of_subtests())
    messages.success(request, _("The limits are saved."))
    return redirect("reports:report", slug, "blind")


@require_POST
def blind_scorer(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = BlindScorerForm(request.POST)
    if form.is_valid():
        try:
            scorer = score_blind(request.user, project, form.cleaned_data["spec"])
        except ActionableError as error:
            form.add_error("spec", str(error))
        else:
            messages.success(request, _("%(label)s scores the texts in the background.") % {"label": scorer.label})
            return redirect("reports:report", slug, "blind")
    return _refused(request, form, _("Score with a language model"), _("Score all texts"))


def _refused(request: HttpRequest, form: forms.Form, title: str, verb: str) -> HttpResponse:
    """Show the form again with its errors at their fields."""
    context = {"form": form, "title": title, "verb": verb}
    return render(request, "evaluation/blind_refused.html", context, status=422)
