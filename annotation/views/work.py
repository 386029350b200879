"""The work pages: a person's queues, one page per stage, and the requests of an open page."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import checked_frame_for, lease_for
from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.leases import leasing
from annotation.actions.leases.leasing import decline_video, save_draft
from annotation.actions.submissions.judgements import judge_and_claim, submit_choice, submit_objects
from annotation.actions.submissions.reviews import ReviewAnswer, answer_review
from annotation.actions.submissions.submit_edit import answer_edit
from annotation.actions.undo import undo_choice, undo_edit, undo_objects, undo_review, undo_vote
from annotation.actions.workflow.make_tasks import MAX_GROUPS_PER_CALL, make_tasks
from annotation.errors import AnnotationError, LeaseEnded
from annotation.messages import REASONS, of_finding, replacement_words
from annotation.models import Lease, QualityPolicy, Stage
from annotation.models.stages import public_stage
from annotation.queries.assignments import open_assignments
from annotation.queries.cards import BaselineWork, Card, ObjectsWork, ValidationWork, claim_of
from annotation.queries.decision_queues import desks_of
from annotation.queries.foil_cards import EditWork, ReturnNote, ReviewWork, Suggestion
from annotation.queries.replacements import replacement_counts
from annotation.rules.editing import MAX_CHARACTERS, WARNINGS, Finding, Problem
from annotation.rules.marking import Marks
from annotation.rules.objects import MAX_OBJECTS
from annotation.views._work_pages import (
    MAX_ID_DIGITS,
    answer_page,
    base_of,
    done_bar,
    is_crowd,
    is_swap,
    milliseconds,
    my_claim,
    next_piece,
    piece_url,
    queue_url,
    sent_with,
    submission_of,
)
from annotation.work_queues import INTRODUCED, introduction_for, queue_of, queues_of
from foilworks.core.corpus.rules.hard_foils import RANDOM
from foilworks.core.corpus.video_files.streaming import stream_file
from foilworks.core.projects.access import get_project, roles_in
from foilworks.core.text.diff import changed_words
from foilworks.core.text.registry import Entry
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from generation.models import CandidateGroup

# Its foils are captions of other videos.
RANDOM_METHOD = "random_caption"
# A placeholder in counted messages for the number that the page fills in while a person types.
NUMBER = 999
ANSWERS: tuple[tuple[str, Promise], ...] = (
    ("first", gettext_lazy("Only the first is true")),
    ("second", gettext_lazy("Only the second is true")),
    ("neither", gettext_lazy("Neither is true")),
    ("both", gettext_lazy("Both are true")),
    ("cannot_tell", gettext_lazy("Cannot tell")),
)
# What fits on a button of a phone.
SHORT_ANSWERS: dict[str, Promise] = {
    "first": gettext_lazy("First"),
    "second": gettext_lazy("Second"),
    "neither": gettext_lazy("Neither"),
    "both": gettext_lazy("Both"),
    "cannot_tell": gettext_lazy("Can’t tell"),
}
# Of a multiple-choice item, beside the numbers of its texts.
SEVERAL_TEXTS_ANSWERS: dict[str, Promise] = {
    "neither": gettext_lazy("None is true"),
    "both": gettext_lazy("Several are true"),
    "cannot_tell": gettext_lazy("Cannot tell"),
}
ANSWER_ROWS = tuple((value, words, SHORT_ANSWERS[value]) for value, words in ANSWERS)
UNDO = {
    "edit": (undo_edit, Stage.EDIT),
    "review": (undo_review, Stage.REVIEW),
    "vote": (undo_vote, Stage.VALIDATION),
    "choice": (undo_choice, Stage.BASELINE),
    "unseen": (undo_choice, Stage.UNSEEN),
    "objectanswer": (undo_objects, Stage.OBJECTS),
}


@require_http_methods(["GET", "HEAD", "POST"])
def queue(request: HttpRequest, slug: str, stage: str) -> HttpResponse:
    if stage not in ROLE_OF_STAGE:
        raise Http404(_("Queue not found."))
    project = request.project = get_project(request.user, slug, ROLE_OF_STAGE[stage])
    if request.method == "POST":
        return next_piece(request, project, stage)
    make_tasks(project, limit=MAX_GROUPS_PER_CALL)
    own_queue = queue_of(request.user, project, stage, in_crowd=is_crowd(request))
    mine = [row for row in open_assignments(project, timezone.localdate(), request.user) if row.stage == stage]
    context = {"queue": own_queue, "done": done_bar(request), "assignments": mine}
    return render(request, "annotation/queue.html", context)


@require_safe
def work(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    make_tasks(project, limit=MAX_GROUPS_PER_CALL)
    queues = queues_of(request.user, project, in_crowd=is_crowd(request))
    context = {
        "queues": queues,
        "assignments": open_assignments(project, timezone.localdate(), request.user),
        "introduction": introduction_for(request, project, queues),
        "desks": desks_of(request.user, project),
        "practice": QualityPolicy.objects.filter(project=project, practice_open=True).exists(),
    }
    return render(request, "annotation/work.html", context)


@require_POST
def hide_introduction(request: HttpRequest, slug: str) -> HttpResponse:
    """Hide the introduction of the project's queues in this browser, until the person signs out."""
    project = request.project = get_project(request.user, slug)
    request.session[INTRODUCED] = sorted({*request.session.get(INTRODUCED, ()), project.pk})
    return redirect("annotation:work", slug)


def live_checks() -> list[tuple[str, str, str, str, bool]]:
    """Return (code, text before the number, number, text after it, whether it stops the submit) of each check.

    Leaves out the check for an empty text: it is not an error before the submit.
    """
    return [_check_words(problem) for problem in Problem if problem != Problem.EMPTY]


def _check_words(problem: Problem) -> tuple[str, str, str, str, bool]:
    before, number, after = of_finding(Finding(0, problem, NUMBER)).partition(str(NUMBER))
    return problem.value, before, number, after, problem not in WARNINGS


def marked_words(marks: Marks | None) -> dict[str, Any]:
    """Return the words that stay and that change, for the page's checks; nothing if it does not matter."""
    return {"marks": {"stay": marks.stay, "change": marks.change}} if marks else {}


def note_words(note: ReturnNote) -> dict[str, Any]:
    return {"reasons": [REASONS[code] for code in note.reasons], "comment": note.comment}


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    return answer_page(
        request,
        lambda: my_claim(request, slug, token, Stage.EDIT),
        lambda: answer_edit(submission_of(request, slug, token), *_edit_answer(request.POST)),
        lambda card, typed: _edit_context(card.edit, typed),
        counts_alone=True,
    )


@require_safe
def replacement(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Say how often foils make the replacement of the typed text, and what would balance it. Plain text."""
    claim = my_claim(request, slug, token, Stage.EDIT)
    group = CandidateGroup.objects.select_related("caption", "run__subtest").get(tasks=claim.task_id)
    counted = replacement_counts(group.run.subtest, group.caption.text, request.GET.get("text", "")[:MAX_CHARACTERS])
    return HttpResponse(replacement_words(*counted) if counted else "", content_type="text/plain; charset=utf-8")


def _edit_answer(form: QueryDict) -> tuple[list[str], list[int | None]]:
    parents = [int(pk) if pk.isdecimal() and len(pk) <= MAX_ID_DIGITS else None for pk in form.getlist("parent")]
    return form.getlist("text"), parents


def _edit_context(work: EditWork, typed: QueryDict) -> dict[str, Any]:
    return {
        "caption": _marked_caption(work),
        "is_action": work.marks is not None,
        "slots": _edit_slots(work, typed.getlist("text"), typed.getlist("parent")),
        "facts": {"caption": work.caption.text, "others": work.others, "dropped": [], **marked_words(work.marks)},
        "checks": live_checks,
        "draft_base": base_of([(slot["text"], slot["parent"]) for slot in _edit_slots(work, [], [])]),
    }


def _marked_caption(work: EditWork) -> dict[str, str]:
    """Return the caption, cut at its target span."""
    text = work.caption.text
    start, end = work.target_span or (len(text), len(text))
    return {"before": text[:start], "target": text[start:end], "after": text[end:]}


def _edit_slots(work: EditWork, texts: list[str], parents: list[str]) -> list[dict[str, Any]]:
    """Return an editor per wanted text: typed text, else a suggestion (returned ones first), else empty."""
    ordered = sorted(work.suggestions, key=lambda suggestion: not suggestion.returned)
    slots = []
    for index in range(work.wanted):
        suggestion = ordered[index] if index < len(ordered) else None
        slots.append(
            {
                "text": texts[index] if index < len(texts) else (suggestion.text if suggestion else ""),
                "parent": parents[index] if index < len(parents) else (suggestion and suggestion.candidate_id),
                "notes": [note_words(note) for note in suggestion.notes] if suggestion else [],
                "suggestions": [_chip(other_suggestion) for other_suggestion in ordered],
            }
        )
    return slots


def _chip(suggestion: Suggestion) -> dict[str, Any]:
    added = [text for kind, text in suggestion.segments if kind == "added"]
    return {"pk": suggestion.candidate_id, "text": suggestion.text, "label": " … ".join(added) or suggestion.text}


@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    return answer_page(
        request,
        lambda: my_claim(request, slug, token, Stage.REVIEW),
        lambda: answer_review(submission_of(request, slug, token), _review_decision(request.POST)),
        lambda card, typed: _review_context(card.review, typed),
        counts_alone=True,
    )


def _review_decision(form: QueryDict) -> ReviewAnswer:
    texts = {name: form.get(name, "") for name in ("decision", "comment", "fixed_text")}
    return ReviewAnswer(**texts, reasons=form.getlist("reasons"))


def _review_context(work: ReviewWork, typed: QueryDict) -> dict[str, Any]:
    # The caption of another video is no edit: nothing of it is marked.
    role = RANDOM if work.foil.method == RANDOM_METHOD else ""
    return {
        "work": work,
        "changed": changed_words(work.caption.text, work.foil.text),
        "findings": [of_finding(finding) for finding in work.findings],
        "earlier": [note_words(note) for note in work.foil.notes],
        "facts": {"caption": work.caption.text, "others": work.others, "dropped": [], **marked_words(work.marks)},
        "checks": live_checks,
        "origin": _origin(work.foil),
        "role": role,
        "filters": [(_label(FILTERS, note.filter), note) for note in work.filters],
        "reasons": [(code, words, code in typed.getlist("reasons")) for code, words in REASONS.items()],
        "comment": typed.get("comment", ""),
        "fixed_text": typed.get("fixed_text") or work.foil.text,
        "fixing": typed.get("decision") == "fix",
        "draft_base": base_of(work.foil.candidate_id, work.foil.text),
    }


def _label(table: Mapping[str, Entry], slug: str) -> str:
    """Return a row's label, or its slug if it has left the table."""
    return _(table[slug].label) if slug in table else slug


def _origin(foil: Suggestion) -> str:
    """Return who or what made it, without a name: reviewers judge the text."""
    if foil.by_person:
        return _("written by a person")
    method = {"method": _label(METHODS, foil.method), "version": foil.method_version}
    made_by = _("method %(method)s, version %(version)s") % method
    return f"{made_by}, {foil.model_id}" if foil.model_id else made_by


@require_http_methods(["GET", "HEAD", "POST"])
def validation(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    answer = request.POST.get("answer", "")
    continues = is_swap(request) and not is_crowd(request)
    return answer_page(
        request,
        lambda: my_claim(request, slug, token, Stage.VALIDATION),
        lambda: judge_and_claim(submission_of(request, slug, token), answer, continues=continues),
        _judgement_context,
        counts_alone=True,
    )


def _judgement_context(card: Card, _typed: QueryDict) -> dict[str, Any]:
    return _validation_context(card.validation) if card.validation else _choice_context(card.baseline)


def _validation_context(work: ValidationWork) -> dict[str, Any]:
    return {"texts": [(_("First"), work.first.segments), (_("Second"), work.second.segments)], "answers": ANSWER_ROWS}


def _choice_context(work: BaselineWork) -> dict[str, Any]:
    """Return the numbered texts, and the words beside them, which go on counting."""
    words = enumerate(SEVERAL_TEXTS_ANSWERS.items(), len(work.texts) + 1)
    return {
        "several": list(enumerate(work.texts, 1)),
        "words": [(number, value, label) for number, (value, label) in words],
    }


@require_http_methods(["GET", "HEAD", "POST"])
def baseline(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    return _choice_page(request, slug, token, Stage.BASELINE)


@require_http_methods(["GET", "HEAD", "POST"])
def unseen(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    return _choice_page(request, slug, token, Stage.UNSEEN)


def _choice_page(request: HttpRequest, slug: str, token: str, stage: str) -> HttpResponse:
    claim, form = my_claim(request, slug, token, stage), request.POST
    key, answer = form.get("idempotency_key", ""), form.get("answer", "")
    return answer_page(
        request,
        lambda: claim,
        lambda: submit_choice(request.user, token, key, answer, stage=stage, **sent_with(form)),
        lambda card, _typed: {"texts": list(enumerate(card.baseline.texts, 1))},
        counts_alone=True,
    )


@require_http_methods(["GET", "HEAD", "POST"])
def objects(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    claim, form = my_claim(request, slug, token, Stage.OBJECTS), request.POST
    key, seconds = form.get("idempotency_key", ""), sent_with(form)["seconds"]
    return answer_page(
        request,
        lambda: claim,
        lambda: submit_objects(request.user, token, key, _object_answers(form), seconds=seconds),
        lambda card, typed: _objects_context(card.objects, typed),
        counts_alone=True,
    )


@require_safe
def frame_image(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """Return the image of a frame, for the project's members."""
    frame = checked_frame_for(request.user, get_project(request.user, slug), pk)
    if not frame.image:
        raise Http404(_("This frame has no image yet. Try again later."))
    return stream_file(request, frame.image)


def _object_answers(form: QueryDict) -> dict[str, str]:
    return {str(index): form.get(f"object-{index}", "") for index in range(MAX_OBJECTS)}


def _objects_context(work: ObjectsWork, form: QueryDict) -> dict[str, Any]:
    typed = _object_answers(form)
    return {"work": work, "objects": [(index, name, typed[str(index)]) for index, name in enumerate(work.objects)]}


@require_POST
def heartbeat(request: HttpRequest, slug: str, token: str) -> JsonResponse:
    """Return {"seconds_left"}; 410 with {"problem"} if the lease has ended, 404 if submits are refused."""
    lease = _my_lease(request, slug, token)
    try:
        expires = leasing.heartbeat(request.user, token)
    except LeaseEnded as error:
        if ROLE_OF_STAGE[public_stage(lease.slot.stage)] not in roles_in(request.user, request.project):
            raise Http404(_("Task not found.")) from error
        return JsonResponse({"problem": str(error)}, status=410)
    return JsonResponse({"seconds_left": round((expires - timezone.now()).total_seconds())})


@require_POST
def draft(request: HttpRequest, slug: str, token: str) -> JsonResponse:
    """Save a draft and return {"at": milliseconds}; 410 if the work was already submitted.

    400 with {"problem"} for an invalid draft.
    """
    _my_lease(request, slug, token)
    try:
        at = save_draft(request.user, token, request.POST.get("draft", ""))
    except AnnotationError as error:
        return JsonResponse({"problem": str(error)}, status=410 if isinstance(error, LeaseEnded) else 400)
    return JsonResponse({"at": milliseconds(at)})


@require_POST
def skip(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    lease = _my_lease(request, slug, token)
    leasing.release(request.user, token, reason=request.POST.get("reason", ""))
    return _next_after(request, lease)


@require_POST
def decline(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Skip at a content warning: the next task is of another video."""
    lease = _my_lease(request, slug, token)
    decline_video(request.user, token)
    return _next_after(request, lease)


def _next_after(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Return the next task whose clip the page has already loaded, if it is still free."""
    stage = public_stage(lease.slot.stage)
    return next_piece(request, request.project, stage, last=claim_of(lease, lease.slot))


def _my_lease(request: HttpRequest, slug: str, token: str) -> Lease:
    request.project = get_project(request.user, slug)
    lease = lease_for(request.user, token)
    if lease.slot.project_id != request.project.pk:
        raise Http404(_("Task not found."))
    return lease


@require_POST
def undo(request: HttpRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    if kind not in UNDO:
        raise Http404(_("Task not found."))
    action, stage = UNDO[kind]
    try:
        claim = action(request.user, pk)
    except AnnotationError as error:
        messages.error(request, str(error))
        return redirect(queue_url(project, stage))
    return redirect(piece_url(project, claim))
