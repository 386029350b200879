"""One candidate: what changed, where it came from, what every filter said, what happened to it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.access import get_candidate
from generation.methods.registry import METHODS
from generation.models import Candidate
from projects.models import AuditEvent
from text.diff import diff_segments


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
