"""Show the semantic proximity of a release's foils, and queue measurements."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from evaluation.proximity.actions.measure_proximity import measure_proximity
from evaluation.proximity.forms import ProximityForm
from evaluation.proximity.stored_proximity import proximity_runs
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import enter_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.text.errors import ActionableError

# The analysis that reads these measurements.
PROXIMITY = "proximity"
MAX_SHOWN = 5


@require_POST
def proximity(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Queue a measurement; errors of the action appear next to the encoder's field."""
    frozen_release = enter_project(request, get_release(request.user, slug, pk))
    form = ProximityForm(request.POST)
    if form.is_valid():
        params = dict(form.cleaned_data)
        try:
            measure_proximity(request.user, frozen_release, params.pop("model"), **params)
        except ActionableError as error:
            form.add_error("model", str(error))
        else:
            return redirect("reports:analysis", slug, pk, PROXIMITY)
    context = {
        **proximity_context(frozen_release),
        "proximity_form": form,
        "release": frozen_release,
        "title": _("Semantic proximity"),
    }
    return render(request, "evaluation/proximity_refused.html", context, status=422)


@require_safe
def proximity_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Render the live part: it polls itself while a job is in progress, then requests the whole page."""
    frozen_release = enter_project(request, get_release(request.user, slug, pk))
    context = {**proximity_context(frozen_release), "release": frozen_release}
    return render_live(request, "evaluation/_proximity_runs.html", context, refresh=not context["proximity_at_work"])


def proximity_context(frozen_release: Release) -> dict[str, Any]:
    runs = list(proximity_runs(frozen_release)[:MAX_SHOWN])
    at_work = any(run.job and not run.job.is_over for run in runs)
    return {"proximity_runs": runs, "proximity_at_work": at_work, "proximity_form": ProximityForm()}
