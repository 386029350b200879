"""The review page: one foil beside its caption, and what becomes of it."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.actions.submissions.submit_review import submit_review
from annotation.claims import Claim
from annotation.errors import AnnotationError
from annotation.messages import REASONS, of_finding
from annotation.models import Stage
from annotation.queries.cards import ReviewWork, Suggestion, claim_card
from annotation.views._edit_checks import live_checks, marked_words, note_words
from annotation.views._undo_bar import Record
from annotation.views._work_pages import base_of, my_claim, next_piece, redirect_lease_expired, sent_with, work_page
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from text.diff import changed_words
from text.registry import Entry


@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim, problem = my_claim(request, slug, token, Stage.REVIEW), ""
    if request.method == "POST":
        try:
            record = submit_review(request.user, token, **_answer(request.POST), **sent_with(request.POST))
        except AnnotationError as error:
            problem = str(error)
        else:
            return next_piece(request, request.project, Stage.REVIEW, record, last=claim, show=_page)
    return _page(request, claim, None, problem)


def _page(request: HttpRequest, claim: Claim, done: Record | None, problem: str = "") -> HttpResponse:
    """The card; with `done` the one that comes after what was just decided, in the same answer."""
    try:
        card = claim_card(request.user, claim)
    except Http404:
        return redirect_lease_expired(request, claim, problem, done)
    typed = QueryDict() if done else request.POST
    return work_page(request, card, _context(card.review, typed), problem, done)


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
