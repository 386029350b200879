"""What is known of the model of a run, for readers of its results."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluation.errors import EvaluationError
from evaluation.scoring.access import get_run
from evaluation.scoring.actions.describe_model import describe_model
from evaluation.scoring.forms import ModelCardForm
from evaluation.scoring.model_cards import card_of
from projects.access import enter_project


@require_http_methods(["GET", "HEAD", "POST"])
def model_card(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_run(request.user, slug, pk))
    form = ModelCardForm(request.POST if request.method == "POST" else None, instance=card_of(found))
    if request.method == "POST" and form.is_valid():
        try:
            describe_model(request.user, found, **form.cleaned_data)
        except EvaluationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The card of %(model)s is stored.") % {"model": found.label})
            return redirect("scoring:run", slug, pk)
    status = 422 if form.errors else 200
    return render(request, "evaluation/model_card.html", {"run": found, "form": form}, status=status)
