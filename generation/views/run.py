"""One generation run: live progress, counts per state, the rejection ledger, its candidates."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.access import get_candidate, get_run
from generation.methods.registry import METHODS
from generation.models import Candidate, GenerationRun
from generation.run_counts import candidates_a_second, candidates_of, filter_counts, spending_of, state_counts
from generation.thresholds.histograms import score_histograms
from projects.access import enter_project
from projects.live_pages import render_live
from projects.models import AuditEvent
from text.diff import diff_segments

PER_PAGE = 25


@require_safe
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = enter_project(request, get_run(request.user, slug, pk))
    chosen = {name: request.GET[name] for name in ("state", "rejected_by") if request.GET.get(name)}
    page = Paginator(candidates_of(found, **chosen), PER_PAGE).get_page(request.GET.get("page"))
    for row in page:
        row.segments = diff_segments(row.group.caption.text, row.text)
        row.rejections = [score for score in row.filter_scores.all() if not score.passed]
    context = {"page": page, "chosen": chosen, "query": f"{urlencode(chosen)}&" if chosen else ""}
    context["histograms"] = score_histograms(found)
    return render(request, "generation/run.html", context | _progress(found))


@require_safe
def run_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The live part: asks for itself again while the job is alive, then for the whole page."""
    found = enter_project(request, get_run(request.user, slug, pk))
    return render_live(
        request, "generation/_run_progress.html", _progress(found), refresh=bool(found.job and found.job.is_over)
    )


def _progress(found: GenerationRun) -> dict[str, Any]:
    states = state_counts(found)
    return {
        "run": found,
        "entry": METHODS.get(found.method),
        "states": states,
        "spent": spending_of(found, dict(states)),
        "speed": candidates_a_second(found),
        "missing": sorted(found.missing.items(), key=lambda pair: -pair[1]),
        "filters": filter_counts(found),
        "skipped": sorted(found.skipped.items(), key=lambda pair: -pair[1]),
    }


@require_safe
def candidate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_candidate(request.user, slug, pk)
    request.project = found.group.run.project
    history = AuditEvent.objects.filter(target_type="generation.candidate", target_id=str(found.pk))
    context = {
        "candidate": found,
        "run": found.group.run,
        "caption": found.group.caption,
        "segments": diff_segments(found.group.caption.text, found.text),
        "entry": METHODS.get(found.method),
        "scores": found.filter_scores.order_by("passed", "filter"),
        "children": found.children.select_related("author").order_by("id"),
        "siblings": Candidate.objects.filter(group=found.group).exclude(pk=found.pk).order_by("rank", "id"),
        "history": history.select_related("actor").order_by("id"),
    }
    return render(request, "generation/candidate.html", context)
