"""Figures of people for researchers, on a page and as a file; everybody's own; the rates that work is paid by."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.actions.settings.set_pay import set_pay
from annotation.errors import AnnotationError
from annotation.forms import PayForm
from annotation.models import Stage
from annotation.queries.activity import figures_of, own_figures
from annotation.queries.paid_work import PAID, pay_of, policy_of, rates_of
from annotation.rules.activity import Figures
from annotation.rules.pay import Earned, Statement
from projects.access import get_project
from projects.models import Project, Role, User
from text.storable import safe_row

# With fewer votes that can be compared a share says nothing to the person themselves.
MIN_COMPARED_VOTES = 20


@dataclass(frozen=True)
class Row:
    person: User
    figures: Figures
    earned: Earned
    is_under: bool

    @property
    def stages(self) -> list[tuple[str, int]]:
        return [(Stage(stage).label, self.figures.pieces[stage]) for stage in PAID if stage in self.figures.pieces]


def _rows(project: Project, paid: Statement) -> list[Row]:
    """Everybody who has handed something in, most pieces first. Seven queries with those of the figures."""
    found = figures_of(project)
    people = User.objects.in_bulk(list(found))
    rows = [Row(people[pk], own, paid.people.get(pk, Earned()), pk in paid.under) for pk, own in found.items()]
    return sorted(rows, key=lambda row: (-row.figures.n_pieces, row.person.username))


@require_safe
def people_figures(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    policy, rates, paid = pay_of(project)
    context = {"rows": _rows(project, paid), "policy": policy, "paid": paid, "has_rates": bool(rates)}
    return render(request, "annotation/people_figures.html", context)


@require_safe
def people_figures_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The table as CSV: shares in 0..1, money in the project's currency, empty where a number is not known."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    policy, _rates, paid = pay_of(project)
    headers = {"Content-Disposition": f'attachment; filename="{project.slug}-people.csv"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    rows = _lines(_rows(project, paid), policy.currency)
    csv.writer(response).writerows(safe_row(row) for row in rows)
    return response


def _lines(rows: list[Row], currency: str) -> Iterator[list[Any]]:
    yield [
        "person",
        "simulated",
        *PAID,
        "median_seconds",
        "pieces_per_hour",
        "time_to_watch",
        "agreement",
        "agreement_n",
        "gold_right",
        "gold_n",
        "first_share",
        "first_low",
        "first_high",
        "first_n",
        "hours",
        "pay",
        "pay_per_hour",
        "currency",
        "under_floor",
    ]
    for row in rows:
        own, earned, bounds = row.figures, row.earned, row.figures.first.interval or (None, None)
        counts = [own.pieces.get(stage, 0) for stage in PAID]
        yield [
            row.person.username,
            row.person.is_simulated,
            *counts,
            own.seconds,
            own.pace,
            own.time_to_watch,
            own.agreement.value,
            own.agreement.seen,
            own.gold.right,
            own.gold.seen,
            own.first.value,
            *bounds,
            own.first.seen,
            round(earned.hours, 4),
            round(earned.pay, 4),
            None if earned.hourly is None else round(earned.hourly, 4),
            currency,
            row.is_under,
        ]


@require_http_methods(["GET", "HEAD", "POST"])
def pay(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    sent = request.POST if request.method == "POST" else None
    form = PayForm(sent, policy=policy_of(project), rates=rates_of(project))
    if form.is_bound and form.is_valid():
        try:
            set_pay(request.user, project, **form.asked())
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Pay is computed by these rates from now on, for all the work that there is."))
            return redirect("annotation:people_pay", slug)
    return render(request, "annotation/pay.html", {"form": form}, status=422 if form.errors else 200)


@require_safe
def own(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    policy, rates, paid = pay_of(project, request.user)
    found, today = own_figures(project, request.user), timezone.localdate()
    context = {
        "figures": found,
        "stages": [(Stage(stage).label, found.pieces[stage]) for stage in PAID if stage in found.pieces],
        "earned": paid.people.get(request.user.pk, Earned()),
        "rates": [(Stage(stage).label, rates[stage]) for stage in PAID if stage in rates],
        "policy": policy,
        "compares": found.agreement.seen >= MIN_COMPARED_VOTES,
        "today": today,
    }
    return render(request, "annotation/own_figures.html", context)
