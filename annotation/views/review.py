"""The review page: one foil beside its caption, and what becomes of it."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.actions.submissions.submit_review import submit_review
from annotation.messages import REASONS, of_finding
from annotation.models import Stage
from annotation.queries.cards import ReviewWork, Suggestion
from annotation.views._edit_checks import live_checks, marked_words, note_words
from annotation.views._work_pages import answer_page, base_of, my_claim, sent_with
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from text.diff import changed_words
from text.registry import Entry


@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim = my_claim(request, slug, token, Stage.REVIEW)
    return answer_page(
        request,
        claim,
        lambda: submit_review(request.user, token, **_answer(request.POST), **sent_with(request.POST)),
        lambda card, typed: _context(card.review, typed),
    )


def _answer(form: QueryDict) -> dict[str, Any]:
    return {
        "key": form.get("idempotency_key", ""),
        "decision": form.get("decision", ""),
        "reasons": form.getlist("reasons"),
        "comment": form.get("comment", ""),
        "fixed_text": form.get("fixed_text", ""),
    }


def _context(work: ReviewWork, typed: QueryDict) -> dict[str, Any]:
    return {
        "work": work,
        "changed": changed_words(work.caption.text, work.foil.text),
        "findings": [of_finding(finding) for finding in work.findings],
        "earlier": [note_words(note) for note in work.foil.notes],
        "facts": {"caption": work.caption.text, "others": work.others, "dropped": [], **marked_words(work.marks)},
        "checks": live_checks(),
        "origin": _origin(work.foil),
        "filters": [(_label(FILTERS, note.filter), note) for note in work.filters],
        "reasons": [(code, words, code in typed.getlist("reasons")) for code, words in REASONS.items()],
        "comment": typed.get("comment", ""),
        "fixed_text": typed.get("fixed_text") or work.foil.text,
        "fixing": typed.get("decision") == "fix",
        "draft_base": base_of(work.foil.candidate_id, work.foil.text),
    }


def _label(table: Mapping[str, Entry], slug: str) -> str:
    """What has left the table since keeps its slug."""
    return str(table[slug].label) if slug in table else slug


def _origin(foil: Suggestion) -> str:
    """Who or what made it, without a name: reviewers judge the text."""
    if foil.by_person:
        return _("a person's own wording")
    method = {"method": _label(METHODS, foil.method), "version": foil.method_version}
    made_by = _("method %(method)s, version %(version)s") % method
    return f"{made_by}, {foil.model_id}" if foil.model_id else made_by
