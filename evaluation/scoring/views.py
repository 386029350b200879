"""Show scoring runs with live progress, results and score files; import scores; edit model cards."""

import csv
import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.charts import of_reports
from evaluation.charts.inline import cached_chart
from evaluation.errors import EvaluationError
from evaluation.metrics.sets import BESIDE, OF_SETS
from evaluation.metrics.two_clips import SCORES
from evaluation.score_files.score_writers import writers_of
from evaluation.scoring.access import get_run
from evaluation.scoring.actions.import_scores import import_scores
from evaluation.scoring.actions.models import describe_model
from evaluation.scoring.actions.runs import resume_run as resume
from evaluation.scoring.actions.runs import stop_run as stop
from evaluation.scoring.answer_figures import answer_figures
from evaluation.scoring.clip_keys import Keyed
from evaluation.scoring.figures import require_figures, waiting_page
from evaluation.scoring.forms import BringScoresForm, BudgetForm, ModelCardForm
from evaluation.scoring.human_baseline import human_line
from evaluation.scoring.involvement import overlaps, uses_of
from evaluation.scoring.model_cards import card_of
from evaluation.scoring.models import Run, Score, ServedAnswer
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import SCORE_FILE, is_winners_only, keyed_by, release_scores
from evaluation.scoring.run_request import checked_spec
from evaluation.scoring.run_results import RANKED, axes_of, is_settled, results_of
from evaluation.scoring.rung_costs import rung_costs as costs_of
from evaluation.scoring.served.served_results import (
    all_raw_answers,
    answers_of,
    figures_as_json,
    figures_of,
    item_counts,
    raw_answers,
)
from evaluation.scoring.shards.outlook import work
from evaluation.scoring.standard_results import standard_of
from foilworks.core.corpus.access import get_release
from foilworks.core.projects.access import enter_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.storable import safe_row

COLUMNS = ("T", "P", "P+T", "n", "ties", "T_all", "n_all", "n_clusters")
TWO_CLIPS = (*SCORES, "n", "ties")
MAX_LISTED, ANSWERS_PER_PAGE = 20, 50


@require_safe
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    run = enter_project(request, get_run(request.user, slug, pk))
    if is_settled(run) and (waiting := waiting_page(request, run.release)):
        return waiting
    results = results_of(run)
    served = figures_of(run)
    context = {
        "run": run,
        "work": work(run),
        "results": results,
        "groups": (groups := _groups(results)),
        "chart": partial(cached_chart, "scores", partial(_drawing, groups), groups),
        "protocol": PROTOCOLS.get(run.protocol),
        "asked_before": _asked_before(run),
        "overlaps": overlaps(uses_of(run.release), [run]),
        "in_older_form": results["overall"] is None and _in_older_form(run),
        "missing": results["missing"][:MAX_LISTED],
        "answers": answer_figures(run),
        "score_forms": writers_of(only_winners=results["only_winners"], pairs=bool(results.get("two_clips"))),
        "two_clips": _two_clips(results),
        "sets": _set_rows(results),
        "ranks": _ranks(results),
        "standard": standard_of(run),
        "served": served,
        "counts": item_counts(run, len(results["missing"]) + run.n_unseen) if served else None,
        "people": human_line(run.release, axes_of(run.release), RANKED) if results["rcad"] else None,
    }
    return render(request, "evaluation/run.html", context)


def _asked_before(run: Run) -> bool:
    """Report whether an earlier version of the protocol was used; the key of a score file names none."""
    protocol = PROTOCOLS.get(run.protocol)
    has_model_key = protocol is not None and run.model_key and not run.spec.startswith(SCORE_FILE)
    return bool(has_model_key) and not run.model_key.endswith(protocol.suffix)


def _in_older_form(run: Run) -> bool:
    """Report whether there are scores by item, the older storage of scores that depend on an item's other texts."""
    rows = Score.objects.filter(model_key=run.model_key, protocol=run.protocol, clip_key__startswith="main:")
    return keyed_by(run) == Keyed.TEXTS and rows.exists()


@require_safe
def run_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Render the live part: it polls itself while the job is in progress, then requests the whole page."""
    run = enter_project(request, get_run(request.user, slug, pk))
    return render_live(
        request,
        "evaluation/_run_progress.html",
        {"run": run, "work": work(run)},
        refresh=bool(run.job and run.job.is_over),
    )


@require_safe
def run_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    """Serve JSON with everything, CSV with one line per group, SVG of the chart."""
    run = get_run(request.user, slug, pk)
    if extension not in WRITERS:
        raise Http404
    if is_settled(run):
        require_figures(run.release)
    response = WRITERS[extension]({**results_of(run), "problems": run.problems, **_beside(run)})
    name = f"{run.release.project.slug}-run-{pk}.{extension}"
    if extension != "svg":
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _beside(run: Run) -> dict[str, Any]:
    """Return what a file says about standard retrieval, and about a run through an endpoint."""
    served, standard = figures_of(run), standard_of(run)
    facts: dict[str, Any] = {"standard": dict(standard)} if standard is not None else {}
    answered = answer_figures(run)
    facts |= {"answers": answered} if answered is not None else {}
    return facts | ({"served": figures_as_json(served)} if served is not None else {})


@require_safe
def answers(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the raw answers of a served model, in pages; `outcome` shows those of one outcome."""
    run = enter_project(request, get_run(request.user, slug, pk))
    rows = answers_of(run)
    outcome = request.GET.get("outcome", "")
    if outcome in ServedAnswer.Outcome.values:
        rows = rows.filter(outcome=outcome)
    page = Paginator(rows, ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "run": run,
        "served": figures_of(run),
        "page": page,
        "raw": raw_answers(run, list(page.object_list), with_samples=True),
        "outcome": outcome,
        "query": f"outcome={outcome}&" if outcome in ServedAnswer.Outcome.values else "",
    }
    return render(request, "evaluation/answers.html", context)


@require_safe
def answers_file(request: HttpRequest, slug: str, pk: int) -> StreamingHttpResponse:
    """Serve every raw answer as a line of JSON."""
    run = get_run(request.user, slug, pk)
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in all_raw_answers(run))
    name = f"{run.release.project.slug}-run-{pk}-answers.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)


def _json(results: dict[str, Any]) -> HttpResponse:
    return JsonResponse(results, json_dumps_params={"ensure_ascii": False, "indent": 2})


def _csv(results: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    writer = csv.writer(response)
    writer.writerow(["kind", "name", *COLUMNS, "T_low", "T_high"])
    for kind, name, group in _groups(results):
        writer.writerow(safe_row([kind, name, *(group[column] for column in COLUMNS), *(group["T_ci"] or ["", ""])]))
    if pairs := _two_clips(results):
        writer.writerow([])
        writer.writerow(["kind", "name", *TWO_CLIPS, *(f"{name}_{end}" for name in SCORES for end in ("low", "high"))])
        for name, group in pairs:
            bounds = [bound for score in SCORES for bound in (group[f"{score}_ci"] or ["", ""])]
            writer.writerow(safe_row(["two clips", name, *(group[column] for column in TWO_CLIPS), *bounds]))
    return response


def _drawing(groups: Iterable[tuple[str, str, dict[str, Any]]]) -> bytes:
    return of_reports.scores([(name, group) for _kind, name, group in groups])


def _svg(results: dict[str, Any]) -> HttpResponse:
    return HttpResponse(
        _drawing(_groups(results)), content_type="image/svg+xml", headers={"Cache-Control": "private, no-cache"}
    )


WRITERS = {"json": _json, "csv": _csv, "svg": _svg}


def _ranks(results: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the caption's ranks: among its foils, and among sampled captions if the run has them."""
    rows = ((_("among its foils (RCAD)"), "rcad"), (_("among captions of other videos (control)"), "control"))
    return [(name, results[key]) for name, key in rows if results.get(key)]


def _two_clips(results: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return (name, group) of the scores of items of two clips: subtests, if there are several, then overall."""
    two_clips = results.get("two_clips")
    if not two_clips or two_clips["overall"] is None:
        return []
    subtests = list(two_clips["subtests"].items()) if len(two_clips["subtests"]) > 1 else []
    return [*subtests, (_("overall"), two_clips["overall"])]


def _set_rows(results: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return (heading, row) of each score of sets, under the names of the board: subtests, if several, then overall."""
    found = results.get("sets")
    if not found:
        return []
    groups = [*(found["subtests"].items() if len(found["subtests"]) > 1 else ()), (_("overall"), found["overall"])]
    return [
        (f"{name}: {column}", _set_row(group, own))
        for name, group in groups
        for column, own in OF_SETS.items()
        if own in group
    ]


def _set_row(group: dict[str, Any], own: str) -> dict[str, Any]:
    beside = {kind: group[kind][own] for kind in BESIDE}
    high = group.get("if_unread_right", {}).get(own)
    return {"value": group[own], "ci": group[f"{own}_ci"], "n": group["n_sets"], "high": high, **beside}


def _groups(results: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (kind, name, group): subtests, then tests that have several of them, then overall."""
    if results["overall"] is None:
        return []
    subtests, tests = results["subtests"], results["tests"]
    rows = [("subtest", name, group) for name, group in subtests.items()]
    # A test of one subtest would repeat it.
    rows += [("test", name, group) for name, group in tests.items() if group not in subtests.values()]
    return [*rows, ("overall", _("overall"), results["overall"])]


@require_POST
def stop_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    run = enter_project(request, get_run(request.user, slug, pk))
    stop(request.user, run)
    messages.success(request, _("The run is stopped. Finished scores are kept."))
    return redirect("scoring:run", run.release.project.slug, run.pk)


@require_POST
def resume_run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    run = enter_project(request, get_run(request.user, slug, pk))
    form = BudgetForm(request.POST)
    resume(request.user, run, form.cleaned_data["budget"] if form.is_valid() else None)
    messages.success(request, _("The run continues."))
    return redirect("scoring:run", run.release.project.slug, run.pk)


@require_safe
def rung_costs(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Render what the chosen rungs would cost with the model of the form, or why they are not possible."""
    release = enter_project(request, get_release(request.user, slug, pk))
    names, has_usual = request.GET.getlist("rungs"), "controls" in request.GET
    try:
        spec = ":".join(checked_spec(request.GET.get("spec", ""), release.project))
        context: dict[str, Any] = {"costs": costs_of(release, spec, names, usual=has_usual or not names)}
    except ActionableError as error:
        context = {"problem": str(error)}
    return render(request, "evaluation/_rung_costs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def bring(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    release = enter_project(request, get_release(request.user, slug, pk))
    form = BringScoresForm(request.POST, request.FILES) if request.method == "POST" else BringScoresForm()
    if form.is_bound and form.is_valid():
        parameters = dict(form.cleaned_data)
        try:
            run = import_scores(request.user, release, parameters.pop("scores"), **parameters)
        except ActionableError as error:
            form.add_error("scores", str(error))
        else:
            return redirect("scoring:run", slug, run.pk)
    example = release.members.filter(is_private=False).order_by("position").values_list("record", flat=True).first()
    context = {"release": release, "form": form, "example": example}
    return render(request, "evaluation/bring_scores.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def model_card(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    run = enter_project(request, get_run(request.user, slug, pk))
    form = ModelCardForm(request.POST if request.method == "POST" else None, instance=card_of(run))
    if request.method == "POST" and form.is_valid():
        try:
            describe_model(request.user, run, **form.cleaned_data)
        except EvaluationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The model card of %(model)s is saved.") % {"model": run.label})
            return redirect("scoring:run", slug, pk)
    status = 422 if form.errors else 200
    return render(request, "evaluation/model_card.html", {"run": run, "form": form}, status=status)


TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "jsonl": "application/x-ndjson"}


@require_safe
def run_scores(request: HttpRequest, slug: str, pk: int, form: str) -> HttpResponse:
    run = get_run(request.user, slug, pk)
    rows, _missing = release_scores(run)
    writers = writers_of(only_winners=is_winners_only(run, rows), pairs=any(row.pair for row in rows))
    if form not in writers:
        raise Http404
    _label, ending, write = writers[form]
    name = f"{run.release.project.slug}-run-{pk}-{form}.{ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(rows), content_type=TYPES.get(ending, "application/octet-stream"), headers=headers)
