"""Show the evidence ladder of a run and of a release, with their files; start controls, and take scores of a rung."""

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.charts import waterfall
from evaluation.ladder.forms import AddRungsForm, RungScoresForm
from evaluation.ladder.ladders import ladder_of_release, ladder_of_run
from evaluation.ladder.needs_context import needs_context, runs_without_looks
from evaluation.ladder.stress_tests import stress_of_run
from evaluation.ladder.thought_pairs import shown_pairs, thought_pairs
from evaluation.ladder.wording import (
    RUNG_LABELS,
    parts_label,
    sentences,
    shown_at,
    stress_sentences,
    waterfall_rows,
)
from evaluation.metrics.ladder import RUNGS
from evaluation.scoring.access import get_run
from evaluation.scoring.actions.rungs import add_controls, import_rung_scores
from evaluation.scoring.figures import awaited, require_figures, waiting_page
from evaluation.scoring.models import Run
from evaluation.scoring.queries import SCORE_FILE
from evaluation.scoring.rung_params import CHOICES
from evaluation.scoring.rungs import FRAMES_TRIED, LOOKS
from evaluation.scoring.shards.outlook import work
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import enter_project
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.storable import safe_row

Found = Mapping[str, Any]
SVG, TEX = "image/svg+xml", "application/x-tex; charset=utf-8"


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
    stored = run.params.get("ladder") or {}
    scored = {*stored.get("rungs", ()), *stored.get("stress", ())}
    context["missing"] = by_file or not scored.issuperset(CHOICES)
    context["add_form"] = AddRungsForm(scored=scored)
    context |= _shown(run, ladder) if ladder else {}
    context["stress"] = stress_sentences(stress_of_run(run))
    return render(request, "evaluation/ladder.html", context, status=422 if form.errors else 200)


def _shown(run: Run, ladder: Found) -> dict[str, Any]:
    overall, seen = ladder["overall"], shown_at(run)
    rungs = [rung for rung in RUNGS if rung in overall["rungs"]]
    return {
        "ladder": overall,
        "sentences": sentences(overall),
        "rungs": [
            {"slug": rung, "label": RUNG_LABELS[rung], "shown": seen[rung], **overall["rungs"][rung]} for rung in rungs
        ],
        "parts": [{**step, "label": parts_label(step["parts"])} for step in overall["parts"]],
        "subtests": [
            (name, group["n"], [group["rungs"].get(rung) for rung in rungs])
            for name, group in ladder["subtests"].items()
        ],
        "labels": [RUNG_LABELS[rung] for rung in rungs],
        "measured": _measured(run.release),
    }


def _measured(release: Release) -> Found | None:
    """Return what the run's release needs; a large one is read by a job first."""
    ladder = None if awaited(release) else ladder_of_release(release)
    return needs_context(ladder) if ladder else None


@require_POST
def controls(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Score the same items with less of their clip, in the background; with `looks`, each item several times."""
    run = enter_project(request, get_run(request.user, slug, pk))
    stored = run.params.get("ladder", {})
    tried, looks = stored.get("tried", FRAMES_TRIED), LOOKS if "looks" in request.POST else stored.get("looks", 1)
    try:
        add_controls(request.user, run, tried, looks, request.POST.getlist("rungs"))
    except ActionableError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("A job scores the other rungs. The ladder shows them when it is done."))
    return redirect("ladder:run_ladder", slug, pk)


@require_safe
def run_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    """Serve JSON with everything, CSV with a line per group and rung; the drawing is that of the release."""
    run = get_run(request.user, slug, pk)
    ladder = ladder_of_run(run)
    if ladder is None:
        raise Http404(_("This run has no ladder yet."))
    name = f"{run.release.project.slug}-run-{pk}-ladder"
    return _file(name, extension, ladder, _rung_lines(ladder), ladder_of_release(run.release))


@require_safe
def release_ladder(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show what the items of a release need, over all models with a ladder."""
    release = enter_project(request, get_release(request.user, slug, pk))
    if waiting := waiting_page(request, release):
        return waiting
    ladder = ladder_of_release(release)
    context: dict[str, Any] = {"release": release, "ladder": ladder}
    if ladder:
        context |= {"measured": needs_context(ladder), "may_add": runs_without_looks(ladder)}
        context["pairs"] = shown_pairs(thought_pairs(release))
    return render(request, "evaluation/release_ladder.html", context)


@require_safe
def release_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    release = get_release(request.user, slug, pk)
    require_figures(release)
    ladder = ladder_of_release(release)
    if ladder is None:
        raise Http404(_("No run of this release has a ladder yet."))
    name = f"{release.project.slug}-release-{pk}-ladder"
    with_pairs = {**ladder, "thoughts": thought_pairs(release)} if extension == "json" else ladder
    return _file(name, extension, with_pairs, _part_lines(ladder), ladder)


def _rung_lines(ladder: Found) -> list[list[Any]]:
    rows: list[list[Any]] = [["group", "rung", "n", "T", "T_low", "T_high"]]
    for name, group in [*ladder["subtests"].items(), ("overall", ladder["overall"])]:
        rows += [[name, rung, group["n"], row["T"], *(row["ci"] or ["", ""])] for rung, row in group["rungs"].items()]
    return rows


def _part_lines(ladder: Found) -> list[list[Any]]:
    rows: list[list[Any]] = [["group", "needs", "n", "share", "share_low", "share_high", "p"]]
    for name, group in [*ladder["subtests"].items(), ("overall", ladder["overall"])]:
        rows += [
            [name, " ".join(part["parts"]), group["n"], part["share"], *part["ci"], part["p"]]
            for part in group["parts"]
        ]
    return rows


def _file(name: str, extension: str, ladder: Found, rows: Sequence[Sequence[Any]], drawn: Found | None) -> HttpResponse:
    """`drawn`: the ladder of the release, whose waterfall the SVG and the TikZ file have."""
    if extension in ("svg", "tex") and drawn and drawn["overall"]["parts"]:
        parts = waterfall_rows(drawn)
        content, kind = (waterfall.draw(parts), SVG) if extension == "svg" else (waterfall.tikz(parts), TEX)
        return HttpResponse(content, content_type=kind, headers={"Cache-Control": "private, no-cache"})
    if extension == "json":
        response: HttpResponse = JsonResponse(ladder, json_dumps_params={"ensure_ascii": False, "indent": 2})
    elif extension == "csv":
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        csv.writer(response).writerows(safe_row(list(row)) for row in rows)
    else:
        raise Http404
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.{extension}"'
    return response
