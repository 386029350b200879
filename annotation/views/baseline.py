"""The page of the human baseline: a clip, the item's texts in the person's own order, one choice."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from annotation.actions.submissions.submit_choice import submit_choice
from annotation.models import Stage
from annotation.views._work_pages import answer_page, my_claim, sent_with


@require_http_methods(["GET", "HEAD", "POST"])
def baseline(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim, form = my_claim(request, slug, token, Stage.BASELINE), request.POST
    key, answer = form.get("idempotency_key", ""), form.get("answer", "")
    return answer_page(
        request,
        claim,
        lambda: submit_choice(request.user, token, key, answer, **sent_with(form)),
        lambda card, _typed: {"texts": list(enumerate(card.baseline.texts, 1))},
        counts_alone=True,
    )
