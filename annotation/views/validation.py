"""The validation page: two texts in the order that the server made, five answers."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from annotation.actions.submissions.submit_vote import submit_vote
from annotation.claims import claim_of
from annotation.models import Stage
from annotation.queries.cards import ValidationWork
from annotation.views._work_pages import answer_page, my_lease, sent_with

ANSWERS: tuple[tuple[str, Promise], ...] = (
    ("first", _("Only the first is true")),
    ("second", _("Only the second is true")),
    ("neither", _("Neither is true")),
    ("both", _("Both are true")),
    ("cannot_tell", _("Cannot tell")),
)


@require_http_methods(["GET", "HEAD", "POST"])
def validation(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    lease, form = my_lease(request, slug, token, Stage.VALIDATION), request.POST
    key, answer = form.get("idempotency_key", ""), form.get("answer", "")
    return answer_page(
        request,
        claim_of(lease, lease.slot),
        lambda: submit_vote(request.user, token, key, answer, lease=lease, **sent_with(form)),
        lambda card, _typed: _context(card.validation),
        counts_alone=True,
    )


def _context(work: ValidationWork) -> dict[str, Any]:
    return {"texts": [(_("First"), work.first.segments), (_("Second"), work.second.segments)], "answers": ANSWERS}
