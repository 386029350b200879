"""Generation runs: their list, a new one, and one with its live progress, skipped captions and candidates."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from generation.access import get_candidate, get_run
from generation.actions.resume_run import resume_run as resume
from generation.actions.start_run import start_run
from generation.actions.stop_run import stop_run as stop
from generation.forms import BudgetForm, RunForm
from generation.methods.registry import METHODS
from generation.models import Candidate, GenerationRun
from generation.run_counts import (
    candidates_a_second,
    candidates_of,
    counts_by_run,
    filter_counts,
    spending_of,
    state_counts,
    without_foil,
)
from generation.thresholds.histograms import score_histograms
from projects.access import enter_project, get_project
from projects.live_pages import render_live
from projects.models import AuditEvent, Role
from text.diff import diff_segments

PER_PAGE = 25


@require_safe
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_run(request.user, slug, pk))
    chosen = {name: request.GET[name] for name in ("state", "rejected_by") if request.GET.get(name)}
    page = Paginator(candidates_of(found, **chosen), PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        row.segments = diff_segments(row.group.caption.text, row.text)
        row.rejections = [score for score in row.filter_scores.all() if not score.passed]
    context = {"page": page, "chosen": chosen, "query": f"{urlencode(chosen)}&" if chosen else ""}
    context["histograms"] = score_histograms(found)
    return render(request, "generation/run.html", context | _progress(found))


@require_safe
def run_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The live part: asks for itself again while the job is alive, then for the whole page."""
    found = enter_project(request, get_run(request.user, slug, pk))
    return render_live(
        request, "generation/_run_progress.html", _progress(found), refresh=bool(found.job and found.job.is_over)
    )


def _progress(found: GenerationRun) -> dict[str, Any]:
    states = state_counts(found)
    return {
        "run": found,
        "entry": METHODS.get(found.method),
        "states": states,
        "spent": spending_of(found, dict(states)),
        "speed": candidates_a_second(found),
        "missing": sorted(found.missing.items(), key=lambda pair: -pair[1]),
        "filters": filter_counts(found),
        "skipped": sorted(found.skipped.items(), key=lambda pair: -pair[1]),
    }


@require_safe
def candidate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_candidate(request.user, slug, pk)
    request.project = found.group.run.project
    history = AuditEvent.objects.filter(target_type="generation.candidate", target_id=str(found.pk))
    context = {
        "candidate": found,
        "run": found.group.run,
        "caption": found.group.caption,
        "segments": diff_segments(found.group.caption.text, found.text),
        "entry": METHODS.get(found.method),
        "scores": found.filter_scores.order_by("passed", "filter"),
        "children": found.children.select_related("author").order_by("id"),
        "siblings": Candidate.objects.filter(group=found.group).exclude(pk=found.pk).order_by("rank", "id"),
        "history": history.select_related("actor").order_by("id"),
    }
    return render(request, "generation/candidate.html", context)


RUNS_PER_PAGE = 30


@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = GenerationRun.objects.filter(project=project).select_related("subtest", "job").order_by("-id")
    page = Paginator(rows, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    counts = counts_by_run(page)
    for row in page:
        row.label = METHODS[row.method].label if row.method in METHODS else row.method
        row.counts = counts[row.pk]
    return render(request, "generation/runs.html", {"page": page})


SKIPPED_PER_PAGE = 50


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
    page = Paginator(without_foil(found, why), SKIPPED_PER_PAGE).get_page(request.GET.get("page"))
    context = {"run": found, "entry": METHODS.get(found.method), "page": page, "why": why}
    context["query"] = f"{urlencode({'why': why})}&" if why else ""
    return render(request, "generation/run_skipped.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_run(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    like = request.GET.get("like", "")
    form = RunForm(
        project,
        request.POST if request.method == "POST" else None,
        method=request.GET.get("method", ""),
        like=get_run(request.user, slug, int(like)) if like.isdecimal() and len(like) < 19 else None,
    )
    if request.method == "POST" and form.is_valid():
        run = start_run(
            request.user,
            project,
            subtest=form.cleaned_data["subtest"],
            method=form.cleaned_data["method"],
            mode=form.cleaned_data["mode"],
            params=form.params.values(),
            filters=form.chosen_filters(),
            seed=form.cleaned_data["seed"],
            selection=form.selection(),
        )
        messages.success(request, _("The run has started."))
        return redirect("generation:run", project.slug, run.pk)
    return render(request, "generation/new_run.html", {"form": form}, status=422 if request.method == "POST" else 200)


@require_safe
def method_fields(request: HttpRequest, slug: str) -> HttpResponse:
    """The parts of the form that belong to the method chosen in `?method=`: its parameters, and its usual filters."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = RunForm(project, method=request.GET.get("method", ""))
    return render(request, "generation/_method_answer.html", {"form": form})
