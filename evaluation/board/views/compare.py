"""Two runs of a release side by side, with the items on which they differ."""

import csv
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from corpus.access import get_release
from corpus.models import Release
from evaluation.board.comparison import OUTCOMES, Comparison, items_at
from evaluation.board.forms import CompareForm
from evaluation.errors import EvaluationError
from evaluation.scoring.run_results import axes_of
from projects.access import enter_project
from text.csv_cells import safe_row
from text.diff import diff_segments

PER_PAGE = 25


@require_safe
def compare_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
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
                _("only A is right"),
                _("only B is right"),
                _("both are right"),
                _("both are wrong"),
                _("a tie earned part of the credit"),
            ),
            strict=True,
        )
    )
    tabs = [(name, labels[name], len(result.outcomes[name])) for name in OUTCOMES if result.outcomes[name]]
    a, b = form.runs()
    return {"a": a, "b": b, "result": result, "page": page, "items": items, "show": show, "tabs": tabs}


@require_safe
def compare_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """CSV of every item that both scored: its outcome and both margins' signs."""
    found = get_release(request.user, slug, pk)
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
