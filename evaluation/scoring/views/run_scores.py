"""A run's raw scores in the forms that other code reads."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from evaluation.score_files.score_writers import WRITERS
from evaluation.scoring.access import get_run
from evaluation.scoring.queries import release_scores

TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "jsonl": "application/x-ndjson"}


@require_safe
def run_scores(request: HttpRequest, slug: str, pk: int, form: str) -> HttpResponse:
    found = get_run(request.user, slug, pk)
    if form not in WRITERS:
        raise Http404
    _label, ending, write = WRITERS[form]
    rows, _missing = release_scores(found)
    name = f"{found.release.project.slug}-run-{pk}-{form}.{ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(rows), content_type=TYPES.get(ending, "application/octet-stream"), headers=headers)
