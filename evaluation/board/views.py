"""Show the board of a release as a page and as files, and the comparison of two of its runs."""

import csv
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from evaluation.board import latex as tables
from evaluation.board.comparison import OUTCOMES, Comparison, items_at
from evaluation.board.forms import BoardForm, CompareForm
from evaluation.board.gaps import gaps_of
from evaluation.board.leaderboard import Board, board
from evaluation.board.side_by_side import Place, place_of, side_by_side
from evaluation.board.sorting import sorted_board
from evaluation.charts import of_models
from evaluation.errors import EvaluationError
from evaluation.scoring.figures import require_figures, waiting_page
from evaluation.scoring.involvement import overlaps
from evaluation.scoring.run_results import axes_of
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.video_files.player import player_clip
from foilworks.core.projects.access import enter_project
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.storable import safe_row


@require_safe
def leaderboard_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    release = enter_project(request, get_release(request.user, slug, pk))
    if waiting := waiting_page(request, release):
        return waiting
    leaderboard = _board(request, release)
    form = BoardForm(leaderboard)
    sorting = sorted_board(leaderboard, request.GET.get("sort", ""), form.data)
    context = {
        "release": release,
        "board": leaderboard,
        "form": form,
        "query": form.query(),
        "columns": leaderboard.columns,
    }
    context["sorting"] = sorting
    context["gaps"] = gaps_of(release)
    context["overlaps"] = overlaps(leaderboard.uses, [row.run for row in leaderboard.scored])
    return render(request, "evaluation/leaderboard.html", context)


@require_safe
def leaderboard_file(request: HttpRequest, slug: str, pk: int, extension: str) -> HttpResponse:
    release = get_release(request.user, slug, pk)
    require_figures(release)
    leaderboard = _board(request, release)
    if extension == "svg":
        return HttpResponse(
            _chart(leaderboard), content_type="image/svg+xml", headers={"Cache-Control": "private, no-cache"}
        )
    if extension not in tables.WRITERS:
        raise Http404
    kind, write = tables.WRITERS[extension]
    stem = f"{release.project.slug}-{slugify(release.name) or release.pk}-{slugify(leaderboard.column) or 'board'}"
    headers = {"Content-Disposition": f'attachment; filename="{stem}.{extension}"'}
    return HttpResponse(write(leaderboard), content_type=f"{kind}; charset=utf-8", headers=headers)


def _board(request: HttpRequest, release: Release) -> Board:
    """Return what the address requests; an unknown scope or column falls back to the whole."""
    with_partly = request.GET.get("partly") == "1"
    try:
        return board(
            release, request.GET.get("column", ""), request.GET.get("scope", "overall"), with_partly=with_partly
        )
    except EvaluationError:
        return board(release, with_partly=with_partly)


def _chart_rows(leaderboard: Board) -> list[tuple[str, float, Any, int]]:
    return [
        (row.run.label, row.group[leaderboard.column], row.group[f"{leaderboard.column}_ci"], row.tied or 0)
        for row in leaderboard.scored
        if row.group[leaderboard.column] is not None
    ]


def _chart(leaderboard: Board) -> bytes:
    human = (
        (leaderboard.human["T"], leaderboard.human["T_ci"]) if leaderboard.human and leaderboard.column == "T" else None
    )
    return of_models.forest(
        _chart_rows(leaderboard),
        chance=leaderboard.chance,
        human=human,
        label=of_models.WITH_INTERVAL.format(leaderboard.column),
    )


PER_PAGE, MAX_DIGITS = 25, 9
OUTCOME_LABELS = {
    "only_a": gettext_lazy("only A is correct"),
    "only_b": gettext_lazy("only B is correct"),
    "both": gettext_lazy("both are correct"),
    "neither": gettext_lazy("both are wrong"),
    "partial": gettext_lazy("a tie earned partial credit"),
}


@require_safe
def compare_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    release = enter_project(request, get_release(request.user, slug, pk))
    if waiting := waiting_page(request, release):
        return waiting
    form = CompareForm(release, request.GET)
    context = {"release": release, "form": form, "query": form.query()}
    if form.is_ready():
        try:
            context |= _compared(request, release, form, form.compared())
        except EvaluationError as error:
            context["why"] = str(error)
    return render(request, "evaluation/compare.html", context)


def _compared(request: HttpRequest, release: Release, form: CompareForm, result: Comparison) -> dict[str, Any]:
    show = form.show()
    page = Paginator(result.outcomes[show], PER_PAGE).get_page(request.GET.get("page"))
    items = items_at(release, page.object_list, *form.runs())
    for item in items:
        caption = item.record["caption"]
        item.record["shown"] = [diff_segments(caption, foil) for foil in item.record["foils"]]
    tabs = [(name, OUTCOME_LABELS[name], len(result.outcomes[name])) for name in OUTCOMES if result.outcomes[name]]
    a, b = form.runs()
    return {"a": a, "b": b, "result": result, "page": page, "items": items, "show": show, "tabs": tabs}


@require_safe
def compare_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show both models on one item: `item` is an id of the project, `at` a position of the release, else the first."""
    release = enter_project(request, get_release(request.user, slug, pk))
    if waiting := waiting_page(request, release):
        return waiting
    form = CompareForm(release, request.GET)
    context: dict[str, Any] = {"release": release, "form": form, "query": form.query()}
    if form.is_ready():
        try:
            result = form.compared()
            place = place_of(result, form.show(), _position(request, release))
        except EvaluationError as error:
            context["why"] = str(error)
        else:
            context |= _shown(release, form, result, place)
    return render(request, "evaluation/compare_item.html", context)


def _position(request: HttpRequest, release: Release) -> int | None:
    """Return the position that the address names; 404 if the release has no such item."""
    item, at = (request.GET.get(name, "") for name in ("item", "at"))
    if item.isdecimal() and len(item) <= MAX_DIGITS:
        rows = ReleaseItem.objects.filter(release=release, item=item, is_private=False)
        position = rows.values_list("position", flat=True).first()
        if position is None:
            raise Http404(gettext_lazy("This release does not have this item."))
        return int(position)
    return int(at) if at.isdecimal() and len(at) <= MAX_DIGITS else None


def _shown(release: Release, form: CompareForm, result: Comparison, place: Place | None) -> dict[str, Any]:
    tabs = [
        (name, OUTCOME_LABELS[name], len(result.outcomes[name]), result.outcomes[name][0])
        for name in OUTCOMES
        if result.outcomes[name]
    ]
    shown = side_by_side(release, place.position, *form.runs()) if place else None
    return {
        "place": place,
        "outcome": OUTCOME_LABELS[place.outcome] if place else "",
        "both": shown,
        "clip": player_clip(shown.video) if shown and shown.video else None,
        "tabs": tabs,
    }


@require_safe
def compare_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Return a CSV of every item that both scored: its outcome and the signs of both margins."""
    release = get_release(request.user, slug, pk)
    require_figures(release)
    form = CompareForm(release, request.GET)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{release.project.slug}-comparison.csv"'
    writer = csv.writer(response)
    writer.writerow(["id", "subtest", "cluster", "outcome"])
    if form.is_ready():
        axes, outcomes = axes_of(release), form.compared().outcomes
        positions = sorted((position, name) for name, listed in outcomes.items() for position in listed)
        for k, name in positions:
            writer.writerow(safe_row([axes.ids[k], axes.subtests[k], axes.clusters[k], name]))
    return response
