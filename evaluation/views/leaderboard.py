"""The board of a release: one page, the same as files for papers and spreadsheets, and its chart."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from corpus.models import Release
from evaluation import board_tables, plots
from evaluation.access import get_release
from evaluation.board_forms import BoardForm
from evaluation.errors import EvaluationError
from evaluation.hint_overlap import overlaps
from evaluation.leaderboard import Board, board


@require_safe
def leaderboard_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_release(request.user, slug, pk)
    request.project = found.project
    shown = _board(request, found)
    form = BoardForm(shown)
    context = {"release": found, "board": shown, "form": form, "query": form.query(), "columns": _columns(shown)}
    context["overlaps"] = overlaps(found, [row.run for row in shown.scored])
    return render(request, "evaluation/leaderboard.html", context)


@require_safe
def leaderboard_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    found = get_release(request.user, slug, pk)
    shown = _board(request, found)
    if extension == "svg":
        return HttpResponse(_chart(shown), content_type="image/svg+xml", headers={"Cache-Control": "private, no-cache"})
    if extension not in board_tables.WRITERS:
        raise Http404
    kind, write = board_tables.WRITERS[extension]
    name = f"{found.project.slug}-{slugify(found.name) or found.pk}-{slugify(shown.column) or 'board'}.{extension}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(shown), content_type=f"{kind}; charset=utf-8", headers=headers)


def _board(request: HttpRequest, found: Release) -> Board:
    """What the address asks for; what the release does not have falls back to the whole."""
    try:
        return board(found, request.GET.get("column", ""), request.GET.get("scope", "overall"))
    except EvaluationError:
        return board(found)


def _columns(shown: Board) -> list[str]:
    """The metrics that some model has, the ranked one first."""
    names = [name for name in ("P+T", "T", "P") if any(row.group[name] is not None for row in shown.scored)]
    return sorted(names, key=lambda name: name != shown.column)


def _chart(shown: Board) -> bytes:
    rows = [
        (row.run.label, row.group[shown.column], row.group[f"{shown.column}_ci"], row.tied or 0)
        for row in shown.scored
        if row.group[shown.column] is not None
    ]
    human = (shown.human["T"], shown.human["T_ci"]) if shown.human and shown.column == "T" else None
    return plots.forest(rows, chance=shown.chance, human=human)
