"""Show the releases of a project, the form that freezes one, and the tabs of one release."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.blind.probes import named_probes, with_people
from evaluation.board.leaderboard import RankedRun, is_uneven, leaderboard
from evaluation.cached_results.first_views import is_large, waits
from evaluation.charts import of_reports
from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_release
from evaluation.ladder.needs_context import needs_context, runs_without_looks
from evaluation.ladder.selection import Offer as LadderOffer
from evaluation.releases.actions.freeze_release import freeze_release, freezing_parameters
from evaluation.releases.background import freezing_of, request_freeze, request_preview, stored_preview
from evaluation.releases.changelog import compared
from evaluation.releases.changes import changes, previous_of, shifts, unscored
from evaluation.releases.forms import FreezeForm
from evaluation.releases.freezable import Preview, freezable, left_out, preview
from evaluation.releases.gate import KIND as GATE
from evaluation.releases.models import ReleaseGate
from evaluation.releases.withheld import withheld_of
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.figures import awaited, require_figures, waiting_page
from evaluation.scoring.forms import ScoringForm
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.release_records import canary_of
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.errors import ActionableError


@require_safe
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = Release.objects.filter(project=project).annotate(n_runs=Count("runs")).order_by("-id")
    return render(request, "evaluation/releases.html", {"releases": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    posted = request.method == "POST"
    if is_large(project):
        return _freeze_large(request, project)
    if not posted and waits(project, GATE, "", request.GET):
        return render(request, "evaluation/freeze.html", {"waits": True, "asked": request.GET.urlencode()})
    next_release = preview(project, _run_ids(request), request.POST.get("needs", ""))
    form = FreezeForm(request.POST if posted else None, gate=next_release.gate, ladder=next_release.ladder)
    if posted and form.is_valid():
        try:
            release = freeze_release(request.user, project, **freezing_parameters(form.cleaned_data))
        except EvaluationError as error:
            form.add_error("override" if "override" in form.fields else "name", str(error))
        else:
            messages.success(request, _("%(name)s is frozen. Its content is listed below.") % {"name": release.name})
            return redirect("releases:release", project.slug, release.pk)
    return _freeze_page(request, project, form, next_release)


def _run_ids(request: HttpRequest) -> list[int]:
    values = (request.POST if request.method == "POST" else request.GET).getlist("ladder_runs")
    return [int(pk) for pk in values if pk.isdecimal() and len(pk) < 19]


def _freeze_large(request: HttpRequest, project: Project) -> HttpResponse:
    """Show what jobs found of the next release, and freeze it by a job."""
    runs = _run_ids(request)
    posted = request.method == "POST" and "check" not in request.POST
    if "check" in request.POST:
        request_preview(project, runs)
        return redirect(f"{request.path}?{urlencode({'ladder_runs': runs}, doseq=True)}")
    stored, freezing = stored_preview(project, runs), freezing_of(project)
    freezes = bool(freezing and freezing.job and not freezing.job.is_over)
    query = urlencode({"ladder_runs": runs}, doseq=True)
    jobs = {"stored": stored, "freezing": freezing, "freezes": freezes, "asked": query}
    if "part" in request.GET:
        at_work = freezes or stored.is_at_work
        return render_live(request, "evaluation/_freeze_jobs.html", jobs, refresh=not at_work)
    next_release = stored.preview or Preview()
    form = FreezeForm(request.POST if posted else None, gate=next_release.gate, ladder=next_release.ladder, by_job=True)
    if posted and form.is_valid():
        request_freeze(request.user, project, form.cleaned_data)
        return redirect("releases:freeze", project.slug)
    return _freeze_page(request, project, form, next_release, **jobs)


def _freeze_page(
    request: HttpRequest, project: Project, form: FreezeForm, next_release: Preview, **jobs: Any
) -> HttpResponse:
    content = freezable(project)
    gate = next_release.gate and {**next_release.gate, "rows": [named_probes(row) for row in next_release.gate["rows"]]}
    context = {
        "form": form,
        "content": content,
        "n_valid": sum(row.n_valid for row in content),
        "left_out": left_out(content),
        "gate": gate,
        "ladder": next_release.ladder,
        **_measured(next_release.ladder),
        **jobs,
    }
    return render(request, "evaluation/freeze.html", context, status=422 if form.errors else 200)


def _measured(ladder: LadderOffer | None) -> dict[str, Any]:
    """Return what the scored release needs, as its own pages show it."""
    release = ladder.runs[0].release if ladder and ladder.runs else None
    found = None if release is None or awaited(release) else ladder_of_release(release)
    return {"measured": needs_context(found), "may_add": runs_without_looks(found)} if found else {}


MAX_LISTED = 50


@require_safe
def release_changes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Compare with the previous release, or the one that `?from=` names."""
    frozen_release = enter_project(request, get_release(request.user, slug, pk))
    earlier = Release.objects.filter(project=frozen_release.project, pk__lt=frozen_release.pk).order_by("-pk")
    before_id = request.GET.get("from", "")
    before = (
        get_object_or_404(earlier, pk=int(before_id))
        if before_id.isdecimal() and len(before_id) < 19
        else previous_of(frozen_release)
    )
    context = {"release": frozen_release, "before": before, "earlier": earlier, "most": MAX_LISTED}
    if before is not None:
        context |= {"changes": changes(before, frozen_release), "shifts": shifts(before, frozen_release)}
        context |= {
            "unscored": unscored(before, frozen_release),
            "reported": (compared(before, frozen_release)).get("reported", []),
        }
    return render(request, "evaluation/changes.html", context)


PER_PAGE = 10


@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the card of the release; POST starts a scoring run on it."""
    frozen_release = enter_project(request, get_release(request.user, slug, pk))
    form = ScoringForm(request.POST if request.method == "POST" else None, release=frozen_release)
    run = _start(request.user, frozen_release, form)
    if run is not None:
        return redirect("scoring:run", slug, run.pk)
    if "part" in request.GET:
        return waiting_page(request, frozen_release) or redirect(request.path)
    waiting = awaited(frozen_release)
    standings = [] if waiting else leaderboard(frozen_release)
    context = {
        "waiting": waiting,
        "release": frozen_release,
        "form": form,
        "standings": standings,
        "has_scores": bool(_scored_models(standings)),
        "uneven": is_uneven(standing.overall for standing in standings),
        "n_withheld": len(_withheld(frozen_release)),
        "canary": canary_of(frozen_release.content_hash),
    }
    return render(request, "evaluation/release.html", context, status=422 if form.errors else 200)


@require_safe
def release_data(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    frozen_release = enter_project(request, get_release(request.user, slug, pk))
    withheld = _withheld(frozen_release)
    page = _items(frozen_release, request.GET.get("page"), withheld)
    context = {"release": frozen_release, "page": page, "n_withheld": len(withheld)}
    return render(request, "evaluation/release_data.html", context)


@require_safe
def release_validation(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    frozen_release = enter_project(request, get_release(request.user, slug, pk))
    return render(
        request, "evaluation/release_validation.html", {"release": frozen_release, "gate": _gate(frozen_release)}
    )


def _withheld(frozen_release: Release) -> dict[str, Any]:
    withheld = withheld_of(frozen_release)
    return withheld | withheld_of(frozen_release, private=True) if frozen_release.n_private else withheld


def _gate(frozen_release: Release) -> ReleaseGate | None:
    gate = ReleaseGate.objects.filter(release=frozen_release).select_related("overridden_by").first()
    if gate is not None:
        gate.rows = with_people(frozen_release, gate.data["rows"])
    return gate


def _start(person: User, frozen_release: Release, form: ScoringForm) -> Run | None:
    """Start the run of a valid form; errors of the action appear next to the model's field."""
    if not form.is_bound or not form.is_valid():
        return None
    params = dict(form.cleaned_data)
    try:
        return start_run(person, frozen_release, RunRequest(params.pop("spec"), **params))
    except ActionableError as error:
        form.add_error("spec", str(error))
        return None


def _items(frozen_release: Release, number: str | None, withheld: Mapping[str, Any]) -> Page:
    page = Paginator(ReleaseItem.objects.filter(release=frozen_release).order_by("position"), PER_PAGE).get_page(number)
    for member in page:
        member.withheld = withheld.get(member.record["id"])
        caption = member.record["caption"]
        member.foils = [diff_segments(caption, foil) for foil in member.record["foils"]]
    return page


@require_safe
def release_chart(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    frozen_release = get_release(request.user, slug, pk)
    require_figures(frozen_release)
    image = of_reports.scores(_scored_models(leaderboard(frozen_release)))
    return HttpResponse(image, content_type="image/svg+xml", headers={"Cache-Control": "private, no-cache"})


def _scored_models(standings: Iterable[RankedRun]) -> list[tuple[str, dict[str, Any]]]:
    """Return label and results of the models that have results."""
    return [(standing.run.label, standing.overall) for standing in standings if standing.overall]
