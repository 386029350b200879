"""A release against an earlier one of its project."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from corpus.access import get_release
from corpus.models import Release
from evaluation.releases.changes import changes, previous_of, shifts

MAX_LISTED = 50


@require_safe
def release_changes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Against the one before it, or the one that `?from=` names."""
    found = get_release(request.user, slug, pk)
    request.project = found.project
    earlier = Release.objects.filter(project=found.project, pk__lt=found.pk).order_by("-pk")
    asked = request.GET.get("from", "")
    before = get_object_or_404(earlier, pk=int(asked)) if asked.isdecimal() and len(asked) < 19 else previous_of(found)
    context = {"release": found, "before": before, "earlier": earlier, "most": MAX_LISTED}
    if before is not None:
        context |= {"changes": changes(before, found), "shifts": shifts(before, found)}
    return render(request, "evaluation/changes.html", context)
