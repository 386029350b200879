"""The page of the human baseline: a clip, the item's texts in the person's own order, one choice."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from annotation.actions.submissions.submit_choice import submit_choice
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.models import Stage
from annotation.queries.cards import BaselineWork, claim_card
from annotation.views._undo_bar import Record
from annotation.views._work_pages import is_swap, my_claim, next_piece, redirect_lease_expired, sent_with, work_page


@require_http_methods(["GET", "HEAD", "POST"])
def baseline(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim, problem, form = my_claim(request, slug, token, Stage.BASELINE), "", request.POST
    if request.method == "POST":
        key, answer = form.get("idempotency_key", ""), form.get("answer", "")
        try:
            record = submit_choice(request.user, token, key, answer, **sent_with(form))
        except AnnotationError as error:
            problem = str(error)
        else:
            return next_piece(request, request.project, Stage.BASELINE, record, last=claim, show=_page)
    return _page(request, claim, None, problem)


def _page(request: HttpRequest, claim: Claim, done: Record | None, problem: str = "") -> HttpResponse:
    try:
        card = claim_card(request.user, claim, counted=not is_swap(request))
    except Http404:
        return redirect_lease_expired(request, claim, problem, done)
    return work_page(request, card, _context(card.baseline), problem, done)


def _context(work: BaselineWork) -> dict[str, Any]:
    return {"texts": list(enumerate(work.texts, 1))}
