"""The page of an object check: a still, and for each object that was extracted whether it is to be seen."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import checked_frame_for
from annotation.actions.submissions.submit_objects import submit_objects
from annotation.models import Stage
from annotation.queries.cards import ObjectsWork
from annotation.rules.objects import MAX_OBJECTS
from annotation.views._work_pages import answer_page, my_claim, sent_with
from corpus.video_files.streaming import stream_file
from projects.access import get_project


@require_http_methods(["GET", "HEAD", "POST"])
def objects(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim, form = my_claim(request, slug, token, Stage.OBJECTS), request.POST
    key, seconds = form.get("idempotency_key", ""), sent_with(form)["seconds"]
    return answer_page(
        request,
        claim,
        lambda: submit_objects(request.user, token, key, _answers(form), seconds=seconds),
        lambda card, typed: _context(card.objects, typed),
        counts_alone=True,
    )


@require_safe
def frame_image(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """The picture of a frame, for the project's members."""
    frame = checked_frame_for(request.user, get_project(request.user, slug), pk)
    if not frame.image:
        raise Http404(_("This frame has no picture yet."))
    return stream_file(request, frame.image)


def _answers(form: QueryDict) -> dict[str, str]:
    return {str(place): form.get(f"object-{place}", "") for place in range(MAX_OBJECTS)}


def _context(work: ObjectsWork, form: QueryDict) -> dict[str, Any]:
    typed = _answers(form)
    return {"work": work, "objects": [(place, name, typed[str(place)]) for place, name in enumerate(work.objects)]}
