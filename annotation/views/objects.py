"""The page of an object check: a still, and for each object that was extracted whether it is to be seen."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import checked_frame_for
from annotation.actions.submissions.submit_objects import submit_objects
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.models import Stage
from annotation.queries.cards import ObjectsWork, claim_card
from annotation.rules.objects import MAX_OBJECTS
from annotation.views._undo_bar import Record
from annotation.views._work_pages import is_swap, my_claim, next_piece, redirect_lease_expired, sent_with, work_page
from corpus.video_files.streaming import stream_file
from projects.access import get_project


@require_http_methods(["GET", "HEAD", "POST"])
def objects(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim, problem, form = my_claim(request, slug, token, Stage.OBJECTS), "", request.POST
    if request.method == "POST":
        key, seconds = form.get("idempotency_key", ""), sent_with(form)["seconds"]
        try:
            record = submit_objects(request.user, token, key, _answers(form), seconds=seconds)
        except AnnotationError as error:
            problem = str(error)
        else:
            return next_piece(request, request.project, Stage.OBJECTS, record, last=claim, show=_page)
    return _page(request, claim, None, problem)


def _page(request: HttpRequest, claim: Claim, done: Record | None, problem: str = "") -> HttpResponse:
    try:
        card = claim_card(request.user, claim, counted=not is_swap(request))
    except Http404:
        return redirect_lease_expired(request, claim, problem, done)
    return work_page(request, card, _context(card.objects, request.POST if problem else QueryDict()), problem, done)


@require_safe
def frame_image(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """The picture of a frame, for the project's members."""
    project = get_project(request.user, slug)
    frame = checked_frame_for(request.user, project, pk)
    if not frame.image:
        raise Http404(_("This frame has no picture yet."))
    return stream_file(request, frame.image)


def _answers(form: QueryDict) -> dict[str, str]:
    return {str(place): form.get(f"object-{place}", "") for place in range(MAX_OBJECTS)}


def _context(work: ObjectsWork, form: QueryDict) -> dict[str, Any]:
    typed = _answers(form)
    return {"work": work, "objects": [(place, name, typed[str(place)]) for place, name in enumerate(work.objects)]}
