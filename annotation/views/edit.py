"""The edit page: a caption becomes the foils that are wanted."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import lease_for
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Stage
from annotation.queries.cards import EditWork, Suggestion
from annotation.views._edit_checks import live_checks, marked_words, note_words
from annotation.views._undo_bar import MAX_ID_DIGITS
from annotation.views._work_pages import answer_page, base_of, my_claim, sent_with
from generation.actions.ask_hint import ask_hint
from generation.errors import GenerationError
from generation.hints import hint_answer, hint_model
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim = my_claim(request, slug, token, Stage.EDIT)
    return answer_page(
        request,
        claim,
        lambda: submit_edit(request.user, token, *_answer(request.POST), **sent_with(request.POST)),
        lambda card, typed: _context(card.edit, typed) | {"hint_model": hint_model(request.project)},
    )


def _answer(form: QueryDict) -> tuple[str, list[str], list[int | None]]:
    parents = [int(pk) if pk.isdecimal() and len(pk) <= MAX_ID_DIGITS else None for pk in form.getlist("parent")]
    return form.get("idempotency_key", ""), form.getlist("text"), parents


def _context(work: EditWork, typed: QueryDict) -> dict[str, Any]:
    return {
        "caption": _marked(work),
        "is_action": work.marks is not None,
        "slots": _slots(work, typed.getlist("text"), typed.getlist("parent")),
        "facts": {"caption": work.caption.text, "others": work.others, "dropped": [], **marked_words(work.marks)},
        "checks": live_checks(),
        "draft_base": base_of([(slot["text"], slot["parent"]) for slot in _slots(work, [], [])]),
    }


def _marked(work: EditWork) -> dict[str, str]:
    """The caption cut at its target span."""
    text = work.caption.text
    start, end = work.target_span or (len(text), len(text))
    return {"before": text[:start], "target": text[start:end], "after": text[end:]}


def _slots(work: EditWork, texts: list[str], parents: list[str]) -> list[dict[str, Any]]:
    """One editor for each wanted text: what was typed, else a suggestion (returned ones first), else nothing."""
    ordered = sorted(work.suggestions, key=lambda suggestion: not suggestion.returned)
    slots = []
    for index in range(work.wanted):
        suggestion = ordered[index] if index < len(ordered) else None
        slots.append(
            {
                "text": texts[index] if index < len(texts) else (suggestion.text if suggestion else ""),
                "parent": parents[index] if index < len(parents) else (suggestion and suggestion.candidate_id),
                "notes": [note_words(note) for note in suggestion.notes] if suggestion else [],
                "suggestions": [_chip(other) for other in ordered],
            }
        )
    return slots


def _chip(suggestion: Suggestion) -> dict[str, Any]:
    added = [text for kind, text in suggestion.segments if kind == "added"]
    return {"pk": suggestion.candidate_id, "text": suggestion.text, "label": " … ".join(added) or suggestion.text}


@require_POST
def hint(request: HttpRequest, slug: str, token: str) -> JsonResponse:
    """{"state", "words", "text", "caption"}; 400 with {"problem"} where nothing can be asked."""
    project = request.project = get_project(request.user, slug, Role.ANNOTATOR)
    lease = lease_for(request.user, token)
    if lease.slot.project_id != project.pk or lease.slot.stage != Stage.EDIT:
        raise Http404(_("There is no such work of yours."))
    try:
        found = hint_answer(ask_hint(request.user, project, lease.task.group.caption, request.POST.get("text", "")))
    except GenerationError as error:
        return JsonResponse({"problem": str(error)}, status=400)
    return JsonResponse({"state": found.state, "words": str(found.words), "text": found.text, "caption": found.caption})
