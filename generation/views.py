"""Pages of generation: runs, captions, thresholds, selections, prompts, tuned models, methods."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foilworks.core.corpus.video_files.player import player_clip
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.forms.registry_entry import EntryForm
from foilworks.core.projects.listing.listing import list_rows
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Role
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.errors import ActionableError
from generation.access import get_candidate, get_caption_run, get_run, get_selection, get_tuning
from generation.actions import benchmarks
from generation.actions import runs as actions
from generation.actions.selections import apply_selection, move_thresholds, start_selection, why_no_selection
from generation.candidate_history import in_a_sentence
from generation.captioning.registry import CAPTIONERS
from generation.errors import GenerationError
from generation.forms import CANDIDATE_ORDERS, RUN_ORDERS, BudgetForm, CaptionForm, RunFilter, RunForm
from generation.methods.registry import METHODS
from generation.model_presence import check_named
from generation.models import Candidate, GenerationRun, Selection
from generation.models.side_work import CaptionRun, Tuning
from generation.recipes import BENCHMARKS
from generation.run_counts import (
    candidates_a_second,
    candidates_of,
    counts_by_run,
    filter_counts,
    left_out_by_draw,
    spending_of,
    state_counts,
    without_foil,
)
from generation.run_preview import preview_draw, preview_run
from generation.selections.forms import SelectionForm
from generation.thresholds.arithmetic import preview
from generation.thresholds.examples import examples
from generation.thresholds.filter_rows import filter_rows
from generation.thresholds.forms import ThresholdForm
from generation.thresholds.histograms import score_histograms
from generation.tuning.loss_curve import loss_curve
from generation.tuning.parameters import TUNING

SKIPPED_PER_PAGE = 50
LOOKS_PER_PAGE = 20
SELECTIONS_PER_PAGE = 30
TUNINGS_PER_PAGE = 20


@require_safe
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    generation_run = enter_project(request, get_run(request.user, slug, pk))
    filter_values = {name: request.GET[name] for name in ("state", "rejected_by") if request.GET.get(name)}
    listing = list_rows(candidates_of(generation_run, **filter_values), CANDIDATE_ORDERS, request.GET, filter_values)
    for row in listing.page.rows:
        row.segments = diff_segments(row.group.caption.text, row.text)
        row.rejections = [score for score in row.filter_scores.all() if not score.passed]
    context = {
        "listing": listing,
        "chosen": filter_values,
        "row_template": "generation/_candidate_row.html",
        "list_name": _("Candidates"),
    }
    context["histograms"] = score_histograms(generation_run)
    helps = (
        {param.name: param.help for param in METHODS[generation_run.method].params}
        if generation_run.method in METHODS
        else {}
    )
    context["settings"] = [(name, value, helps.get(name, "")) for name, value in generation_run.params.items()]
    return render(request, "generation/run.html", context | _progress(generation_run))


@require_safe
def run_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the live part of a page. It polls while the job is active, then loads the whole page."""
    generation_run = enter_project(request, get_run(request.user, slug, pk))
    return render_live(
        request,
        "generation/_run_progress.html",
        _progress(generation_run),
        refresh=bool(generation_run.job and generation_run.job.is_over),
    )


def _progress(generation_run: GenerationRun) -> dict[str, Any]:
    states = state_counts(generation_run)
    return {
        "run": generation_run,
        "entry": METHODS.get(generation_run.method),
        "states": states,
        "spent": spending_of(generation_run, dict(states)),
        "speed": candidates_a_second(generation_run),
        "missing": sorted(generation_run.missing.items(), key=lambda pair: -pair[1]),
        "filters": filter_counts(generation_run),
        "left_out": left_out_by_draw(generation_run),
        "skipped": sorted(generation_run.skipped.items(), key=lambda pair: -pair[1]),
    }


@require_safe
def candidate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    context = _candidate_context(request, slug, pk)
    group = context["candidate"].group
    context["siblings"] = Candidate.objects.filter(group=group).exclude(pk=pk).order_by("rank", "id")
    return render(request, "generation/candidate.html", context)


@require_safe
def candidate_panel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return render(request, "generation/candidate_panel.html", _candidate_context(request, slug, pk))


def _candidate_context(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    foil_candidate = get_candidate(request.user, slug, pk)
    request.project = foil_candidate.group.run.project
    return {
        "candidate": foil_candidate,
        "clip": player_clip(foil_candidate.group.caption.video),
        "run": foil_candidate.group.run,
        "caption": foil_candidate.group.caption,
        "segments": diff_segments(foil_candidate.group.caption.text, foil_candidate.text),
        "entry": METHODS.get(foil_candidate.method),
        "scores": foil_candidate.filter_scores.order_by("passed", "filter"),
        "children": foil_candidate.children.select_related("author").order_by("id"),
        "history": [(event, in_a_sentence(event)) for event in audit.events_of(foil_candidate).select_related("actor")],
    }


@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = RunFilter(request.GET)
    filter_values = form.chosen()
    rows = GenerationRun.objects.filter(project=project)
    if state := filter_values.get("state"):
        rows = rows.filter(job__state=state)
    listing = list_rows(
        rows, RUN_ORDERS, request.GET, filter_values, lambda rows: rows.select_related("subtest", "job")
    )
    counts = counts_by_run(listing.page.rows)
    for row in listing.page.rows:
        row.label = METHODS[row.method].label if row.method in METHODS else row.method
        row.counts = counts[row.pk]
    context = {
        "form": form,
        "listing": listing,
        "any": bool(filter_values or listing.count.n),
        "row_template": "generation/_run_row.html",
        "list_name": _("Generation runs"),
        "benchmarks": BENCHMARKS,
    }
    return render(request, "generation/runs.html", context)


@require_POST
def start_benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    """Start all runs of the benchmark in `benchmark`; the list of runs then shows them."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    try:
        runs = benchmarks.start_benchmark(request.user, project, request.POST.get("benchmark", ""))
    except GenerationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Started %(n)d runs, one per subtest.") % {"n": len(runs)})
    return redirect("generation:runs", project.slug)


@require_POST
def resume_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    generation_run = enter_project(request, get_run(request.user, slug, pk))
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The budget is not a whole number, so the run was not started. Enter whole numbers."))
        return redirect("generation:run", generation_run.project.slug, generation_run.pk)
    actions.resume_run(request.user, generation_run, budget=form.new_limits())
    messages.success(request, _("The run continues."))
    return redirect("generation:run", generation_run.project.slug, generation_run.pk)


@require_POST
def stop_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    generation_run = enter_project(request, get_run(request.user, slug, pk))
    actions.stop_run(request.user, generation_run)
    messages.success(request, _("The run is stopped. Its candidates are still there."))
    return redirect("generation:run", generation_run.project.slug, generation_run.pk)


@require_safe
def run_skipped(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show captions without a foil or with fewer than requested. `?why=` shows only those with one reason."""
    generation_run = enter_project(request, get_run(request.user, slug, pk))
    why = request.GET.get("why", "")
    page = Paginator(without_foil(generation_run, why), SKIPPED_PER_PAGE).get_page(request.GET.get("page"))
    context = {"run": generation_run, "entry": METHODS.get(generation_run.method), "page": page, "why": why}
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
    if request.GET.get("without_foil"):
        form.initial["without_foil"] = True
    valid = request.method == "POST" and form.is_valid()
    if valid and (run := form.attempt(actions.start_run, request.user, project)):
        messages.success(request, _("The run has started."))
        return redirect("generation:run", project.slug, run.pk)
    return render(request, "generation/new_run.html", {"form": form}, status=422 if request.method == "POST" else 200)


@require_safe
def method_fields(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the parts of the form that depend on the method in `?method=`: its parameters and default filters.

    With `?preset=` only the filters, as that preset chooses them. Afterwards the page asks for its preview again.
    """
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    preset = request.GET.get("preset", "")
    form = RunForm(project, method=request.GET.get("method", ""), preset=preset, stored_values=request.GET)
    template = "generation/_filter_fields.html" if preset else "generation/_method_answer.html"
    response = render(request, template, {"form": form})
    response.headers["HX-Trigger-After-Settle"] = "runsettings"
    return response


@require_POST
def run_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what a run with these settings makes of a few captions. Stores nothing; invalid settings are named.

    With `?draw=1`, show instead how much of the foils of more captions the audit's solver answers from their texts.

    Nothing (204) for a method whose parameters are still on their way to the page, which asks again with them.
    """
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = RunForm(project, request.POST)
    if form.seen != form.method_slug:
        return HttpResponse(status=204)
    is_valid = bool(form.method_slug) and form.is_valid()
    if request.GET.get("draw"):
        drawn = form.attempt(preview_draw, project) if is_valid else None
        return render(request, "generation/_draw_preview.html", {"drawn": drawn})
    preview = form.attempt(preview_run, project) if is_valid else None
    return render(request, "generation/_run_preview.html", {"form": form, "preview": preview})


@require_http_methods(["GET", "HEAD", "POST"])
def captions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a new caption preview and all earlier previews, newest first."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = CaptionForm(request.POST if request.method == "POST" else None, maker=request.GET.get("maker", ""))
    if request.method == "POST" and form.is_valid():
        run_settings = {name: form.cleaned_data[name] for name in ("maker", "mode", "sources", "split", "seed")}
        run = actions.preview_captions(request.user, project, params=form.params.values(), **run_settings)
        return redirect("generation:caption_run", project.slug, run.pk)
    rows = CaptionRun.objects.filter(project=project).select_related("job").order_by("-id")
    page = Paginator(rows, LOOKS_PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        row.label = CAPTIONERS[row.maker].label if row.maker in CAPTIONERS else row.maker
    status = 422 if request.method == "POST" else 200
    return render(request, "generation/captions.html", {"form": form, "page": page}, status=status)


@require_safe
def maker_fields(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the parameters of the maker in `?maker=`."""
    request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "generation/_maker_fields.html", {"form": CaptionForm(maker=request.GET.get("maker", ""))})


@require_safe
def caption_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a caption run. `?part=1` shows only the live part, which polls while the job is active."""
    captioning_run = enter_project(request, get_caption_run(request.user, slug, pk))
    live_only = request.GET.get("part") == "1"
    template = "generation/_caption_run.html" if live_only else "generation/caption_run.html"
    skipped = sorted(captioning_run.skipped.items(), key=lambda pair: -pair[1])
    context = {"run": captioning_run, "entry": CAPTIONERS.get(captioning_run.maker), "skipped": skipped}
    return render_live(
        request, template, context, refresh=bool(live_only and captioning_run.job and captioning_run.job.is_over)
    )


@require_POST
def make_captions(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Queue the job that stores the previewed captions."""
    captioning_run = enter_project(request, get_caption_run(request.user, slug, pk))
    actions.make_captions(request.user, captioning_run)
    messages.success(request, _("The captions are being generated."))
    return redirect("generation:caption_run", captioning_run.project.slug, captioning_run.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def thresholds(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    generation_run = enter_project(request, get_run(request.user, slug, pk))
    submitted = request.POST if request.method == "POST" else request.GET
    form = ThresholdForm(generation_run, submitted if submitted else None)
    partial = bool(request.headers.get("HX-Request"))
    context: dict[str, Any] = {"run": generation_run, "form": form, "partial": partial, "movable": bool(form.fields)}
    if request.method == "POST" and form.is_valid():
        try:
            done = move_thresholds(request.user, generation_run, form.thresholds())
        except GenerationError as error:
            context["problem"] = str(error)
        else:
            messages.success(request, _("%(back)s restored, %(left)s held back.") % _moved(done))
            return redirect("generation:thresholds", generation_run.project.slug, generation_run.pk)
    context |= _preview(generation_run, form)
    template = "generation/_thresholds.html" if partial else "generation/thresholds.html"
    return render(request, template, context, status=422 if request.method == "POST" else 200)


def _moved(done: Any) -> dict[str, int]:
    return {"back": done.n_back, "left": done.n_leave}


def _preview(run: GenerationRun, form: ThresholdForm) -> dict[str, Any]:
    try:
        threshold_preview = preview(run, form.thresholds())
    except GenerationError as error:
        return {"why": str(error)}
    rows, example_rows = filter_rows(run, threshold_preview), examples(threshold_preview)
    return {"preview": threshold_preview, "rows": rows, "examples": example_rows, "edits": run.project.edit_stage}


@require_http_methods(["GET", "HEAD", "POST"])
def selections(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    initial = {name: request.GET[name] for name in ("subtest", "run", "kind") if request.GET.get(name)}
    form = SelectionForm(project, request.POST if request.method == "POST" else None, **initial)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        try:
            new_selection = start_selection(request.user, values.pop("subtest"), values.pop("kind"), **values)
        except GenerationError as error:
            form.add_error("kind", str(error))
        else:
            return redirect("generation:selection", project.slug, new_selection.pk)
    rows = Selection.objects.filter(project=project).select_related("subtest", "run", "job").order_by("-id")
    page = Paginator(rows, SELECTIONS_PER_PAGE).get_page(request.GET.get("page"))
    closed = why_no_selection(project)
    context = {"form": form, "page": page, "query": "", "closed": closed}
    return render(request, "generation/selections.html", context, status=422 if request.method == "POST" else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def selection(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a selection (GET) or apply it (POST)."""
    stored_selection = enter_project(request, get_selection(request.user, slug, pk))
    context: dict[str, Any] = {"chosen": stored_selection}
    if request.method == "POST":
        try:
            apply_selection(request.user, stored_selection)
        except GenerationError as error:
            context["problem"] = str(error)
        else:
            messages.success(request, _("Selection applied."))
            return redirect("generation:selection", slug, pk)
    if stored_selection.result:
        context["examples"] = [diff_segments(*pair) for pair in stored_selection.result["examples"]]
    return render(request, "generation/selection.html", context, status=422 if request.method == "POST" else 200)


@require_safe
def selection_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the live part of a page. It polls while the job is active, then loads the whole page."""
    stored_selection = enter_project(request, get_selection(request.user, slug, pk))
    return render_live(
        request,
        "generation/_selection_progress.html",
        {"chosen": stored_selection},
        refresh=bool(stored_selection.job and stored_selection.job.is_over),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def tunings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a new tuning and all earlier tunings, newest first."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = EntryForm(TUNING, request.POST if request.method == "POST" else None, prefix="tuning")
    closed = actions.why_no_tuning(project)
    if request.method == "POST" and form.is_valid():
        try:
            check_named(form.values()["model"])
            tuning = actions.start_tuning(request.user, project, params=form.values())
        except ActionableError as error:
            form.add_problem(error, None if closed else "model")
        else:
            return redirect("generation:tuning", project.slug, tuning.pk)
    rows = Tuning.objects.filter(project=project).select_related("job").order_by("-id")
    page = Paginator(rows, TUNINGS_PER_PAGE).get_page(request.GET.get("page"))
    status = 422 if request.method == "POST" else 200
    context = {"form": form, "entry": TUNING, "page": page, "closed": closed}
    return render(request, "generation/tunings.html", context, status=status)


@require_safe
def tuning(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a tuning. `?part=1` shows only the live part, which polls while the job is active."""
    stored_tuning = enter_project(request, get_tuning(request.user, slug, pk))
    live_only = request.GET.get("part") == "1"
    context = {"tuning": stored_tuning, "curve": loss_curve(stored_tuning.losses)}
    return render_live(
        request,
        "generation/_tuning.html" if live_only else "generation/tuning.html",
        context,
        refresh=bool(live_only and stored_tuning.job and stored_tuning.job.is_over),
    )
