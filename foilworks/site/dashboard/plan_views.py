"""Show what a study takes: items, votes, people, hours and cost. The address contains the plan.

Only the target is stored: the items and votes that the overview compares the progress with.
"""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from evaluation.charts.inline import cached_chart
from evaluation.charts.of_curves import power_curves
from evaluation.errors import EvaluationError
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Project, Role
from foilworks.site.dashboard.actions.target import set_target
from foilworks.site.dashboard.forms import PlanForm, TargetForm
from foilworks.site.dashboard.models import StudyTarget
from foilworks.site.dashboard.pilot import Pilot, pilot_of, progress
from foilworks.site.dashboard.planning import plan as plan_of

# Charts stay in English, for papers.
CURVE = "{:g} points"
ITEMS_LABEL = "valid items; the lines cross at the planned power"


@require_safe
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return _page(request, project)


@require_POST
def target(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the target of the project."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = TargetForm(request.POST, None)
    if not form.is_valid():
        return _page(request, project, form)
    set_target(request.user, project, **form.cleaned_data)
    messages.success(request, _("Target saved."))
    return redirect("dashboard:plan", slug)


def _page(request: HttpRequest, project: Project, bound_form: TargetForm | None = None) -> HttpResponse:
    pilot = pilot_of(project)
    form = PlanForm(pilot.values, request.GET)
    context: dict[str, Any] = {"form": form, "pilot": _pilot_rows(pilot), "currency": pilot.currency}
    if form.is_valid():
        try:
            context |= _planned(form.values(), pilot)
        except EvaluationError as error:
            form.add_problem(error)
    stored_target = StudyTarget.objects.filter(project=project).first()
    context |= {
        "target": stored_target,
        "target_form": bound_form or TargetForm(None, stored_target, context.get("planned")),
    }
    return render(request, "evaluation/plan.html", context, status=422 if bound_form else 200)


def _planned(values: dict[str, Any], pilot: Pilot) -> dict[str, Any]:
    planned = plan_of(values)
    plan_progress = progress(pilot, planned, values["budget"])
    curves = [(CURVE.format(round(100 * row["difference"], 2)), row["points"]) for row in planned["curves"]]
    return {
        "planned": planned,
        "values": values,
        "progress": plan_progress,
        "over_budget": None
        if plan_progress["budget_left"] is None
        else plan_progress["cost_left"] - plan_progress["budget_left"],
        "chart": partial(
            cached_chart,
            "plan",
            partial(power_curves, curves, target_power=values["power"], items=planned["items"], label=ITEMS_LABEL),
            [curves, values["power"], planned["items"]],
        ),
    }


def _pilot_rows(pilot: Pilot) -> list[dict[str, Any]]:
    """Return what the project knows, with its labels and formats."""
    labels = {
        "validity": (_("Valid items"), "share"),
        "vote_agreement": (_("Agreement of two validators"), "share"),
        "seconds_per_vote": (_("Mean seconds per vote"), "decimal"),
        "model_agreement": (_("Agreement of the two best models"), "share"),
        "best_two": (_("Difference of the two best models"), "points"),
        "divided": (_("Pairs whose usual votes decide nothing"), "share"),
    }
    return [{**row, "label": labels[row["name"]][0], "how": labels[row["name"]][1]} for row in pilot.rows]
