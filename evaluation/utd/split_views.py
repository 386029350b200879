"""Show the samples of a split and its reliability, train or score models on it, and compare data sets."""

from functools import partial
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.charts.inline import cached_chart
from evaluation.utd.access import get_bias_run
from evaluation.utd.actions.biases import predict_samples
from evaluation.utd.data_sets import newest_runs, tables_of
from evaluation.utd.downloads import learning_curve
from evaluation.utd.forms import TrainForm
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.pages import loss_rows
from evaluation.utd.procedure import procedure_of
from evaluation.utd.reliability import conclusion_of
from evaluation.utd.requests import PredictionRequest
from evaluation.utd.sample_pages import BALANCED, KEPT, REMOVED, sample_indices, shown_samples
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError

SAMPLES_PER_PAGE = 12
MAX_DIGITS = 10


@require_safe
def samples(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show removed or kept samples with film strip, texts and votes."""
    bias_run = enter_project(request, get_bias_run(request.user, slug, pk))
    names = {REMOVED: _("Removed"), BALANCED: _("Removed from the balanced split only"), KEPT: _("Kept")}
    list_name = request.GET.get("show", "")
    list_name = list_name if list_name in names else REMOVED
    page = Paginator(sample_indices(bias_run, list_name), SAMPLES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "run": bias_run,
        "lists": [(name, label, len(sample_indices(bias_run, name))) for name, label in names.items()],
        "shown": list_name,
        "page": page,
        "samples": shown_samples(bias_run, page.object_list),
        "query": f"show={list_name}&",
    }
    return render(request, "evaluation/bias/samples.html", context)


@require_safe
def reliability(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show how the splits depend on the train size, and which results missing texts cost."""
    bias_run = enter_project(request, get_bias_run(request.user, slug, pk))
    result = bias_run.result or {}
    curve = result.get("learning_curve")
    settings = {"task": bias_run.task, "labels": bias_run.labels, "encoder": bias_run.encoder, "learning_curve": "on"}
    context = {
        "run": bias_run,
        "result": result,
        "curve": curve,
        "verdict": conclusion_of(curve, procedure_of(bias_run.params).bootstrap),
        "losses": loss_rows(result),
        "again": urlencode({"descriptions": bias_run.descriptions_id or "", **settings}),
    }
    if curve:
        context["chart"] = partial(cached_chart, "learning-curve", partial(learning_curve, curve), curve)
    return render(request, "evaluation/bias/reliability.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def train(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the form that trains a classifier on a frozen backbone, or scores an image-text model."""
    bias_run = enter_project(request, get_bias_run(request.user, slug, pk))
    form = TrainForm(request.POST if request.method == "POST" else None)
    if bias_run.task == CLASSIFICATION:
        del form.fields["rerank"]
    if form.is_bound and form.is_valid():
        sent = dict(form.cleaned_data)
        try:
            predict_samples(request.user, bias_run, PredictionRequest(sent.pop("model"), **sent))
        except ActionableError as error:
            form.add_error("model", str(error))
        else:
            return redirect("utd:bias_models", slug, pk)
    n_train = (bias_run.result or {}).get("n_train")
    intro = _("The model learns from %(n)s videos of the train split. It answers all samples of the test set.")
    context = {
        "form": form,
        "title": _("Train or score a model"),
        "verb": _("Queue job"),
        "back": reverse("utd:bias_models", args=[slug, pk]),
        "intro": intro % {"n": n_train} if n_train else "",
        "closed": "" if (bias_run.result or {}).get("split") else _("This run has no split yet."),
    }
    return render(request, "evaluation/bias/form.html", context, status=422 if form.errors else 200)


@require_safe
def datasets(request: HttpRequest, slug: str) -> HttpResponse:
    """Show runs of the person's projects side by side (UTD, Tables 1 to 4)."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    choices = newest_runs(request.user)
    run_ids = [int(text) for text in request.GET.getlist("run") if text.isdecimal() and len(text) < MAX_DIGITS]
    runs = newest_runs(request.user, run_ids) if run_ids else choices
    context = {"project": project, "runs": runs, "tables": tables_of(runs), "choices": choices}
    return render(request, "evaluation/bias/datasets.html", context)
