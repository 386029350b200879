"""The validation page: two texts in the order that the server made, five answers."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from annotation.actions.submissions.submit_vote import submit_vote
from annotation.claims import Claim, claim_of
from annotation.errors import AnnotationError
from annotation.models import Stage
from annotation.queries.cards import ValidationWork, claim_card
from annotation.views._undo_bar import Record
from annotation.views._work_pages import is_swap, my_lease, next_piece, redirect_lease_expired, sent_with, work_page

ANSWERS: tuple[tuple[str, Promise], ...] = (
    ("first", _("Only the first is true")),
    ("second", _("Only the second is true")),
    ("neither", _("Neither is true")),
    ("both", _("Both are true")),
    ("cannot_tell", _("Cannot tell")),
)


@require_http_methods(["GET", "HEAD", "POST"])
def validation(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    lease, problem, form = my_lease(request, slug, token, Stage.VALIDATION), "", request.POST
    claim = claim_of(lease, lease.slot)
    if request.method == "POST":
        key, answer = form.get("idempotency_key", ""), form.get("answer", "")
        try:
            record = submit_vote(request.user, token, key, answer, lease=lease, **sent_with(form))
        except AnnotationError as error:
            problem = str(error)
        else:
            return next_piece(request, request.project, Stage.VALIDATION, record, last=claim, show=_page)
    return _page(request, claim, None, problem)


def _page(request: HttpRequest, claim: Claim, done: Record | None, problem: str = "") -> HttpResponse:
    try:
        card = claim_card(request.user, claim, counted=not is_swap(request))
    except Http404:
        return redirect_lease_expired(request, claim, problem, done)
    return work_page(request, card, _context(card.validation), problem, done)


def _context(work: ValidationWork) -> dict[str, Any]:
    return {"texts": [(_("First"), work.first.segments), (_("Second"), work.second.segments)], "answers": ANSWERS}
