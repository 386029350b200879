"""Scores of a model that ran elsewhere, brought to a release."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from corpus.access import get_release
from evaluation.score_files.score_writers import WRITERS
from evaluation.scoring.actions.import_scores import import_scores
from evaluation.scoring.forms import BringScoresForm
from projects.access import enter_project
from text.errors import ActionableError


@require_http_methods(["GET", "HEAD", "POST"])
def bring(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
    form = BringScoresForm(request.POST, request.FILES) if request.method == "POST" else BringScoresForm()
    if form.is_bound and form.is_valid():
        asked = dict(form.cleaned_data)
        try:
            run = import_scores(request.user, found, asked.pop("scores"), **asked)
        except ActionableError as error:
            form.add_error("scores", str(error))
        else:
            return redirect("scoring:run", slug, run.pk)
    example = found.members.order_by("position").values_list("record", flat=True).first()
    context = {"release": found, "form": form, "example": example, "writers": WRITERS}
    return render(request, "evaluation/bring_scores.html", context, status=422 if form.errors else 200)
