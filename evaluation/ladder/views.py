"""Show the evidence ladder of a run and of a release, with their files; start controls, and take scores of a rung."""

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.charts.inline import cached_chart
from evaluation.ladder import chart
from evaluation.ladder.forms import RungScoresForm
from evaluation.ladder.ladders import ladder_of_release, ladder_of_run
from evaluation.ladder.wording import (
    RUNG_LABELS,
    benchmark_sentences,
    conclusion,
    need_labels,
    parts_label,
    sentences,
    shown_at,
)
from evaluation.metrics.ladder import CHAIN, REQUIRED, RUNGS, WORDS
from evaluation.scoring.access import get_run
from evaluation.scoring.actions.rungs import add_controls, import_rung_scores
from evaluation.scoring.figures import require_figures, waiting_page
from evaluation.scoring.models import Run
from evaluation.scoring.queries import SCORE_FILE
from evaluation.scoring.shards.outlook import work
from foilworks.core.corpus.access import get_release
from foilworks.core.projects.access import enter_project
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.storable import safe_row

Found = Mapping[str, Any]
SVG = "image/svg+xml"


@require_http_methods(["GET", "HEAD", "POST"])
def run_ladder(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the ladder of a run; POST adds the scores of one rung from a file."""
    run = enter_project(request, get_run(request.user, slug, pk))
    form = RungScoresForm(request.POST, request.FILES) if request.method == "POST" else RungScoresForm()
    if form.is_bound and form.is_valid():
        parameters = dict(form.cleaned_data)
        try:
            import_rung_scores(request.user, run, parameters.pop("rung"), parameters.pop("scores"), **parameters)
        except ActionableError as error:
            form.add_error("scores", str(error))
        else:
            messages.success(request, _("A job stores the scores. The ladder shows them when it is done."))
            return redirect("ladder:run_ladder", slug, pk)
    ladder = ladder_of_run(run)
    by_file = run.spec.startswith(SCORE_FILE)
    context = {"run": run, "work": work(run), "form": form, "by_file": by_file}
    # A model scores all of its rungs at once; some releases have no other clip.
    context["missing"] = by_file or "ladder" not in run.params
    context |= _shown(run, ladder) if ladder else {}
    return render(request, "evaluation/ladder.html", context, status=422 if form.errors else 200)


def _shown(run: Run, ladder: Found) -> dict[str, Any]:
    overall, seen = ladder["overall"], shown_at(run)
    rungs = [rung for rung in RUNGS if rung in overall["rungs"]]
    return {
        "ladder": overall,
        "conclusion": conclusion(overall),
        "sentences": sentences(overall),
        "shows_order": all(rung in overall["rungs"] for rung in REQUIRED["order"]),
        "rungs": [
            {"slug": rung, "label": RUNG_LABELS[rung], "shown": seen[rung], **overall["rungs"][rung]} for rung in rungs
        ],
        "parts": [{**step, "label": parts_label(step["parts"])} for step in overall["parts"]],
        "subtests": [
            (name, group["n"], [group["rungs"].get(rung) for rung in rungs])
            for name, group in ladder["subtests"].items()
        ],
        "labels": [RUNG_LABELS[rung] for rung in rungs],
        **_needs(ladder),
        "chart": partial(cached_chart, "ladder", partial(chart.of_run, overall), overall),
    }


def _needs(ladder: Found) -> dict[str, Any]:
    needs = ladder["needs"]
    rows = [(slug, label, needs["counts"].get(slug, 0)) for slug, label in need_labels(needs["scored"]).items()]
    # Only a score without the clip can make an item seem to need its clip.
    luck = needs["luck"] if WORDS in needs["scored"] else None
    return {"needs": rows, "luck": luck, "n_unknown": needs["n_unknown"]}


@require_POST
def controls(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Score the same items with less of their clip, in the background."""
    run = enter_project(request, get_run(request.user, slug, pk))
    try:
        add_controls(request.user, run)
    except ActionableError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("A job scores the other rungs. The ladder shows them when it is done."))
    return redirect("ladder:run_ladder", slug, pk)


@require_safe
def run_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    """Serve JSON with everything, CSV with a line per group and rung, SVG of the chart."""
    run = get_run(request.user, slug, pk)
    ladder = ladder_of_run(run)
    if ladder is None:
        raise Http404(_("This run has no ladder yet."))
    name = f"{run.release.project.slug}-run-{pk}-ladder"
    return _file(name, extension, ladder, _lines(ladder, "T"), partial(chart.of_run, ladder["overall"]))


@require_safe
def release_ladder(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show what the items of a release need, over all models with a ladder."""
    release = enter_project(request, get_release(request.user, slug, pk))
    if waiting := waiting_page(request, release):
        return waiting
    ladder = ladder_of_release(release)
    context: dict[str, Any] = {"release": release, "ladder": ladder}
    if ladder:
        overall = ladder["overall"]
        rungs = [rung for rung in CHAIN if rung in overall["rungs"]]
        groups = [*ladder["subtests"].items(), (_("overall"), overall)]
        context |= {
            "sentences": benchmark_sentences(ladder),
            "labels": [RUNG_LABELS[rung] for rung in rungs],
            "groups": [(name, group, [group["rungs"].get(rung) for rung in rungs]) for name, group in groups],
            **_needs(ladder),
            "source": f"release-{release.pk}",
            "chart": partial(cached_chart, "benchmark", partial(chart.of_benchmark, overall), overall),
        }
    return render(request, "evaluation/release_ladder.html", context)


@require_safe
def release_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    release = get_release(request.user, slug, pk)
    require_figures(release)
    ladder = ladder_of_release(release)
    if ladder is None:
        raise Http404(_("No run of this release has a ladder yet."))
    name = f"{release.project.slug}-release-{pk}-ladder"
    return _file(name, extension, ladder, _lines(ladder, "share"), partial(chart.of_benchmark, ladder["overall"]))


def _lines(ladder: Found, value: str) -> list[list[Any]]:
    rows: list[list[Any]] = [["group", "rung", "n", value, f"{value}_low", f"{value}_high"]]
    for name, group in [*ladder["subtests"].items(), ("overall", ladder["overall"])]:
        rows += [[name, rung, group["n"], row[value], *(row["ci"] or ["", ""])] for rung, row in group["rungs"].items()]
    return rows


def _file(
    name: str, extension: str, ladder: Found, rows: Sequence[Sequence[Any]], drawn: Callable[[], bytes]
) -> HttpResponse:
    if extension == "svg":
        return HttpResponse(drawn(), content_type=SVG, headers={"Cache-Control": "private, no-cache"})
    if extension == "json":
        response: HttpResponse = JsonResponse(ladder, json_dumps_params={"ensure_ascii": False, "indent": 2})
    elif extension == "csv":
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        csv.writer(response).writerows(safe_row(list(row)) for row in rows)
    else:
        raise Http404
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.{extension}"'
    return response
