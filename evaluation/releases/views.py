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

from evaluation.blind.forms import named_probes
from evaluation.board.leaderboard import RankedRun, is_uneven, leaderboard
from evaluation.cached_results.first_views import is_large, waits
from evaluation.charts import of_reports
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
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
    shown = preview(project, _asked_runs(request), request.POST.get("needs", ""))
    form = FreezeForm(request.POST if posted else None, gate=shown.gate, ladder=shown.ladder)
    if posted and form.is_valid():
        try:
            release = freeze_release(request.user, project, **form.cleaned_data)
        except EvaluationError as error:
            form.add_error("override" if "override" in form.fields else "name", str(error))
        else:
            messages.success(request, _("%(name)s is frozen. Its content is listed below.") % {"name": release.name})
            return redirect("releases:release", project.slug, release.pk)
    return _freeze_page(request, project, form, shown)


def _asked_runs(request: HttpRequest) -> list[int]:
    asked = (request.POST if request.method == "POST" else request.GET).getlist("ladder_runs")
    return [int(pk) for pk in asked if pk.isdecimal() and len(pk) < 19]


def _freeze_large(request: HttpRequest, project: Project) -> HttpResponse:
    """Show what jobs found of the next release, and freeze it by a job."""
    runs = _asked_runs(request)
    posted = request.method == "POST" and "check" not in request.POST
    if "check" in request.POST:
        request_preview(project, runs)
        return redirect(f"{request.path}?{urlencode({'ladder_runs': runs}, doseq=True)}")
    stored, freezing = stored_preview(project, runs), freezing_of(project)
    freezes = bool(freezing and freezing.job and not freezing.job.is_over)
    asked = urlencode({"ladder_runs": runs}, doseq=True)
    jobs = {"stored": stored, "freezing": freezing, "freezes": freezes, "asked": asked}
    if "part" in request.GET:
        at_work = freezes or stored.is_at_work
        return render_live(request, "evaluation/_freeze_jobs.html", jobs, refresh=not at_work)
    shown = stored.found or Preview()
    form = FreezeForm(request.POST if posted else None, gate=shown.gate, ladder=shown.ladder, by_job=True)
    if posted and form.is_valid():
        request_freeze(request.user, project, form.cleaned_data)
        return redirect("releases:freeze", project.slug)
    return _freeze_page(request, project, form, shown, **jobs)


def _freeze_page(request: HttpRequest, project: Project, form: FreezeForm, shown: Preview, **jobs: Any) -> HttpResponse:
    content = freezable(project)
    gate = shown.gate and {**shown.gate, "rows": [named_probes(row) for row in shown.gate["rows"]]}
    context = {
        "form": form,
        "content": content,
        "n_valid": sum(row.n_valid for row in content),
        "left_out": left_out(content),
        "gate": gate,
        "ladder": shown.ladder,
        **jobs,
    }
    return render(request, "evaluation/freeze.html", context, status=422 if form.errors else 200)


MAX_LISTED = 50


@require_safe
def release_changes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Compare with the previous release, or the one that `?from=` names."""
    found = enter_project(request, get_release(request.user, slug, pk))
    earlier = Release.objects.filter(project=found.project, pk__lt=found.pk).order_by("-pk")
    asked = request.GET.get("from", "")
    before = get_object_or_404(earlier, pk=int(asked)) if asked.isdecimal() and len(asked) < 19 else previous_of(found)
    context = {"release": found, "before": before, "earlier": earlier, "most": MAX_LISTED}
    if before is not None:
        context |= {"changes": changes(before, found), "shifts": shifts(before, found)}
        context |= {"unscored": unscored(before, found), "reported": (compared(before, found)).get("reported", [])}
    return render(request, "evaluation/changes.html", context)


PER_PAGE = 10


@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the card of the release; POST starts a scoring run on it."""
    found = enter_project(request, get_release(request.user, slug, pk))
    form = ScoringForm(request.POST if request.method == "POST" else None, release=found)
    run = _start(request.user, found, form)
    if run is not None:
        return redirect("scoring:run", slug, run.pk)
    if "part" in request.GET:
        return waiting_page(request, found) or redirect(request.path)
    waiting = awaited(found)
    standings = [] if waiting else leaderboard(found)
    context = {
        "waiting": waiting,
        "release": found,
        "form": form,
        "standings": standings,
        "has_scores": bool(_scored(standings)),
        "uneven": is_uneven(standing.overall for standing in standings),
        "n_withheld": len(_withheld(found)),
        "canary": canary_of(found.content_hash),
    }
    return render(request, "evaluation/release.html", context, status=422 if form.errors else 200)


@require_safe
def release_data(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
    withheld = _withheld(found)
    page = _items(found, request.GET.get("page"), withheld)
    context = {"release": found, "page": page, "n_withheld": len(withheld)}
    return render(request, "evaluation/release_data.html", context)


@require_safe
def release_validation(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_release(request.user, slug, pk))
    return render(request, "evaluation/release_validation.html", {"release": found, "gate": _gate(found)})


def _withheld(found: Release) -> dict[str, Any]:
    held = withheld_of(found)
    return held | withheld_of(found, private=True) if found.n_private else held


def _gate(found: Release) -> ReleaseGate | None:
    gate = ReleaseGate.objects.filter(release=found).select_related("overridden_by").first()
    if gate is not None:
        gate.rows = [named_probes(row) for row in gate.data["rows"]]
    return gate


def _start(person: User, found: Release, form: ScoringForm) -> Run | None:
    """Start the run of a valid form; errors of the action appear next to the model's field."""
    if not form.is_bound or not form.is_valid():
        return None
    asked = dict(form.cleaned_data)
    try:
        return start_run(person, found, asked.pop("spec"), **asked)
    except ActionableError as error:
        form.add_error("spec", str(error))
        return None


def _items(found: Release, number: str | None, withheld: Mapping[str, Any]) -> Page:
    page = Paginator(ReleaseItem.objects.filter(release=found).order_by("position"), PER_PAGE).get_page(number)
    for member in page:
        member.withheld = withheld.get(member.record["id"])
        caption = member.record["caption"]
        member.foils = [diff_segments(caption, foil) for foil in member.record["foils"]]
    return page


@require_safe
def release_chart(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_release(request.user, slug, pk)
    require_figures(found)
    image = of_reports.scores(_scored(leaderboard(found)))
    return HttpResponse(image, content_type="image/svg+xml", headers={"Cache-Control": "private, no-cache"})


def _scored(standings: Iterable[RankedRun]) -> list[tuple[str, dict[str, Any]]]:
    """Return label and results of the models that have results."""
    return [(standing.run.label, standing.overall) for standing in standings if standing.overall]
