"""Show the board of a release as a page and as files, and the comparison of two of its runs."""

import csv
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluation.board import latex as tables
from evaluation.board.comparison import OUTCOMES, Comparison, items_at
from evaluation.board.forms import BoardForm, CompareForm
from evaluation.board.gaps import gaps_of
from evaluation.board.leaderboard import Board, board
from evaluation.board.sorting import sorted_board
from evaluation.charts import of_models
from evaluation.errors import EvaluationError
from evaluation.scoring.figures import require_figures, waiting_page
from evaluation.scoring.involvement import overlaps
from evaluation.scoring.run_results import axes_of
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import enter_project
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.storable import safe_row


@require_safe
def leaderboard_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
    if waiting := waiting_page(request, found):
        return waiting
    shown = _board(request, found)
    form = BoardForm(shown)
    sorting = sorted_board(shown, request.GET.get("sort", ""), form.data)
    context = {"release": found, "board": shown, "form": form, "query": form.query(), "columns": shown.columns}
    context["sorting"] = sorting
    context["gaps"] = gaps_of(found)
    context["overlaps"] = overlaps(shown.uses, [row.run for row in shown.scored])
    return render(request, "evaluation/leaderboard.html", context)


@require_safe
def leaderboard_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    found = get_release(request.user, slug, pk)
    require_figures(found)
    shown = _board(request, found)
    if extension == "svg":
        return HttpResponse(_chart(shown), content_type="image/svg+xml", headers={"Cache-Control": "private, no-cache"})
    if extension not in tables.WRITERS:
        raise Http404
    kind, write = tables.WRITERS[extension]
    name = f"{found.project.slug}-{slugify(found.name) or found.pk}-{slugify(shown.column) or 'board'}.{extension}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(shown), content_type=f"{kind}; charset=utf-8", headers=headers)


def _board(request: HttpRequest, found: Release) -> Board:
    """Return what the address requests; an unknown scope or column falls back to the whole."""
    try:
        return board(found, request.GET.get("column", ""), request.GET.get("scope", "overall"))
    except EvaluationError:
        return board(found)


def _chart_rows(shown: Board) -> list[tuple[str, float, Any, int]]:
    return [
        (row.run.label, row.group[shown.column], row.group[f"{shown.column}_ci"], row.tied or 0)
        for row in shown.scored
        if row.group[shown.column] is not None
    ]


def _chart(shown: Board) -> bytes:
    human = (shown.human["T"], shown.human["T_ci"]) if shown.human and shown.column == "T" else None
    return of_models.forest(
        _chart_rows(shown), chance=shown.chance, human=human, label=of_models.WITH_INTERVAL.format(shown.column)
    )


PER_PAGE = 25


@require_safe
def compare_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
    if waiting := waiting_page(request, found):
        return waiting
    form = CompareForm(found, request.GET)
    context = {"release": found, "form": form, "query": form.query()}
    if form.is_ready():
        try:
            context |= _compared(request, found, form, form.compared())
        except EvaluationError as error:
            context["why"] = str(error)
    return render(request, "evaluation/compare.html", context)


def _compared(request: HttpRequest, found: Release, form: CompareForm, result: Comparison) -> dict[str, Any]:
    show = form.show()
    page = Paginator(result.outcomes[show], PER_PAGE).get_page(request.GET.get("page"))
    items = items_at(found, page.object_list, *form.runs())
    for item in items:
        caption = item.record["caption"]
        item.record["shown"] = [diff_segments(caption, foil) for foil in item.record["foils"]]
    labels = dict(
        zip(
            OUTCOMES,
            (
                _("only A is correct"),
                _("only B is correct"),
                _("both are correct"),
                _("both are wrong"),
                _("a tie earned partial credit"),
            ),
            strict=True,
        )
    )
    tabs = [(name, labels[name], len(result.outcomes[name])) for name in OUTCOMES if result.outcomes[name]]
    a, b = form.runs()
    return {"a": a, "b": b, "result": result, "page": page, "items": items, "show": show, "tabs": tabs}


@require_safe
def compare_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Return a CSV of every item that both scored: its outcome and the signs of both margins."""
    found = get_release(request.user, slug, pk)
    require_figures(found)
    form = CompareForm(found, request.GET)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{found.project.slug}-comparison.csv"'
    writer = csv.writer(response)
    writer.writerow(["id", "subtest", "cluster", "outcome"])
    if form.is_ready():
        axes, outcomes = axes_of(found), form.compared().outcomes
        places = sorted((place, name) for name, listed in outcomes.items() for place in listed)
        for k, name in places:
            writer.writerow(safe_row([axes.ids[k], axes.subtests[k], axes.clusters[k], name]))
    return response
