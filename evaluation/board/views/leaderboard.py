"""The board of a release: one page, the same as files for papers and spreadsheets, and its chart."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from corpus.access import get_release
from corpus.models import Release
from evaluation.board import latex as tables
from evaluation.board.comparison import overlaps
from evaluation.board.forms import BoardForm
from evaluation.board.leaderboard import Board, board
from evaluation.charts import of_models
from evaluation.errors import EvaluationError
from projects.access import enter_project


@require_safe
def leaderboard_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
    shown = _board(request, found)
    form = BoardForm(shown)
    context = {"release": found, "board": shown, "form": form, "query": form.query(), "columns": shown.columns}
    context["overlaps"] = overlaps(found, [row.run for row in shown.scored])
    return render(request, "evaluation/leaderboard.html", context)


@require_safe
def leaderboard_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    found = get_release(request.user, slug, pk)
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
    """What the address asks for; what the release does not have falls back to the whole."""
    try:
        return board(found, request.GET.get("column", ""), request.GET.get("scope", "overall"))
    except EvaluationError:
        return board(found)


def _chart(shown: Board) -> bytes:
    rows = [
        (row.run.label, row.group[shown.column], row.group[f"{shown.column}_ci"], row.tied or 0)
        for row in shown.scored
        if row.group[shown.column] is not None
    ]
    human = (shown.human["T"], shown.human["T_ci"]) if shown.human and shown.column == "T" else None
    return of_models.forest(rows, chance=shown.chance, human=human, label=of_models.WITH_INTERVAL.format(shown.column))
