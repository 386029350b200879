"""Shared by the work pages: the lease, the page, the submitted fields, the next task, undo."""

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.access import edit_for, lease_for, object_answer_for, review_for, vote_for
from annotation.actions.claims.claim import ROLE_OF_STAGE, claim
from annotation.actions.submissions.submission import StoredWork, Submission
from annotation.errors import AnnotationError, NotAdmitted
from annotation.messages import ENDED, TIME_IS_UP
from annotation.models import Edit, Lease, ObjectAnswer, Review, SkipReason, Slot, Stage, Vote, VoteState
from annotation.models.stages import CHOICES, public_stage
from annotation.queries.cards import Card, Claim, claim_card, claim_of, draft_of
from annotation.queries.crowd import finished_place, place_counts
from annotation.queries.queues import AtLeast, held_besides, open_work
from annotation.rules.guidelines import render_guideline
from annotation.rules.watch_evidence import TOP
from foilworks.core.corpus.video_files.player import Piece, blind_clip, clip_url
from foilworks.core.projects.access import get_project
from foilworks.core.projects.crowd_entry import CROWD_PLACE_KEY
from foilworks.core.projects.models import Project

Record = Edit | Review | Vote | ObjectAnswer
# Makes the response of a claim; of a rejected submit, with the problem.
Show = Callable[..., HttpResponse]
# A vote is about a pair, or a choice of a study.
GETTERS = {
    "edit": edit_for,
    "review": review_for,
    "vote": vote_for,
    "choice": vote_for,
    "unseen": vote_for,
    "objectanswer": object_answer_for,
}
# Maximum of digits of a row id; longer numbers in the address are invalid.
MAX_ID_DIGITS = 18
# Header of the page's script (static/annotation/work.js), and the answer's header.
SWAP, SWAPPED_URL, SWAP_GOES = "X-Foilworks-Swap", "X-Foilworks-Url", "X-Foilworks-Go"
# Text typed in these is stored as a draft; an answer by keyboard is not.
TYPED = frozenset({Stage.EDIT, Stage.REVIEW})


def guideline_html(text: str) -> SafeString:
    """Render the Markdown as HTML that cannot run or load anything."""
    # bandit B703: the renderer allows a list of tags only.
    return SafeString(render_guideline(text, _("Good:"), _("Bad:")))  # nosec


@dataclass(frozen=True)
class Done:
    """`seconds`: how long it can be undone; 0 if it cannot."""

    kind: str
    pk: int
    seconds: int
    note: str


def done_parameter(record: Record) -> str:
    """Return how the next page's address names the record."""
    kind = record._meta.model_name
    if isinstance(record, Vote) and record.stage in CHOICES:
        kind = "choice" if record.stage == Stage.BASELINE else "unseen"
    return f"{kind}-{record.pk}"


def done_bar(request: HttpRequest) -> Done | None:
    """Return the person's record that `?done=` names; None for anything else. Http404 for somebody else's record."""
    kind, _dash, number = request.GET.get("done", "").partition("-")
    if kind not in GETTERS or not number.isdecimal() or len(number) > MAX_ID_DIGITS:
        return None
    return done_with(request, GETTERS[kind](request.user, int(number)))


def done_with(request: HttpRequest, record: Record) -> Done | None:
    """Return the same for a loaded record."""
    if getattr(record, "undone_at", None) or getattr(record, "state", None) == VoteState.UNDONE:
        return None
    age = (timezone.now() - record.created_at).total_seconds()
    seconds_left = round(request.project.undo_seconds - age) if record.slot_id else 0
    kind = done_parameter(record).partition("-")[0]
    return Done(kind, record.pk, max(0, seconds_left), _note(record)) if seconds_left > 0 or record.late else None


def _note(record: Record) -> str:
    if not record.late:
        return ""
    if record.slot_id:
        return _("The answer was late, but nobody had taken the task, so it counts.")
    return _("The answer was too late to count. It is saved.")


def my_claim(request: HttpRequest, slug: str, token: str, stage: str) -> Claim:
    """Return the person's lease of the stage, running or ended; 404 for any other, 403 without the role."""
    request.project = get_project(request.user, slug, ROLE_OF_STAGE[stage])
    lease = lease_for(request.user, token)
    if lease.slot.project_id != request.project.pk or public_stage(lease.slot.stage) != stage:
        raise Http404(_("Task not found."))
    # The same row, with the columns that are already known.
    lease.slot.project = request.project
    return claim_of(lease, lease.slot)


def _swapped(request: HttpRequest, claim: Claim, done: Record | None, show: Show) -> HttpResponse:
    response = show(request, claim, done)
    response.headers[SWAPPED_URL] = piece_url(request.project, claim) + _done_query(done)
    return response


def _page_maker(context: Callable[[Card, QueryDict], dict[str, Any]], *, counts_alone: bool) -> Show:
    """Return what makes a claim's page, or its card for a script."""

    def show(request: HttpRequest, claim: Claim, done: Record | None, problem: str = "") -> HttpResponse:
        try:
            card = claim_card(request.user, claim, counted=not (counts_alone and is_swap(request)))
        except Http404:
            return redirect_lease_expired(request, claim, problem, done)
        return _work_page(request, card, context(card, QueryDict() if done else request.POST), problem, done)

    return show


def answer_page(
    request: HttpRequest,
    find_claim: Callable[[], Claim],
    submit: Callable[[], StoredWork | Record],
    context: Callable[[Card, QueryDict], dict[str, Any]],
    *,
    counts_alone: bool = False,
) -> HttpResponse:
    """Show a claim's page; POST submits the answer and shows the next card, or the answer's errors.

    If `submit` returns StoredWork, it has checked the access. `context` makes the stage's template context from the
    card and an invalid form (else empty). `counts_alone`: the page's script updates the counts, so that a swapped card
    needs none.
    """
    show = _page_maker(context, counts_alone=counts_alone)
    if request.method != "POST":
        return show(request, find_claim(), None)
    try:
        answered = submit()
    except AnnotationError as error:
        return show(request, find_claim(), None, str(error))
    if not isinstance(answered, StoredWork):
        last = find_claim()
        return next_piece(request, request.project, last.stage, answered, last=last, show=show)
    slot = answered.lease.slot
    request.project = slot.project
    if answered.claim is not None:
        return _swapped(request, answered.claim, answered.record, show)
    last = claim_of(answered.lease, slot)
    return next_piece(request, slot.project, last.stage, answered.record, last=last, show=show)


def _work_page(
    request: HttpRequest, card: Card, context: dict[str, Any], problem: str = "", done: Record | None = None
) -> HttpResponse:
    """Render the page of a card; with a `problem`, the answer to a rejected submit (status 400).

    `done`: what this request submitted. A script that asks for it gets the content only.
    """
    stage, status = card.claim.stage, 400 if problem else 200
    page_context = {
        **context,
        "card": card,
        "project": request.project,
        # If this page answers a submit, the request's path is that of the previous task.
        "here": piece_url(request.project, card.claim),
        "clip": blind_clip(card.video, request.user.pk, Piece.SLOT, card.claim.slot_id),
        "guideline": {"version": card.guideline_version, "html": guideline_html(card.guideline_text)},
        "seconds_left": max(0, round((card.claim.expires_at - timezone.now()).total_seconds())),
        "key": (problem and request.POST.get("idempotency_key")) or secrets.token_urlsafe(24),
        "frame": "annotation/_swap.html" if is_swap(request) else "annotation/_base.html",
        "next_clip": upcoming_source(request, card.claim),
        "draft_key": f"{stage}-{card.claim.task_id}-{request.user.pk}",
        "draft_now": milliseconds(timezone.now()),
        "draft": _draft(request, card) if stage in TYPED else None,
        "skip_reasons": SkipReason.choices,
        **_counts(request, card),
        "done": done_with(request, done) if done else done_bar(request),
        "problem": problem,
    }
    if is_swap(request):
        # Context processors give what is around the content: the menu, messages, the signed-in person.
        page_context["csrf_token"] = get_token(request)
        return HttpResponse(render_to_string(f"annotation/{stage}.html", page_context), status=status)
    return render(request, f"annotation/{stage}.html", page_context, status=status)


def _counts(request: HttpRequest, card: Card) -> dict[str, Any]:
    """Return the numbers in the head of a task: of the place in a crowd study, else of today in this stage.

    `done_count`: the tasks done, or None; `total`: those, the ones that the person holds, and those that they may take.
    A "+" says that more are waiting than are counted. Swapped cards get no total: the page's script keeps the last one.
    """
    if is_crowd(request) and (counts := place_counts(request.user, card.project, card.claim.stage)):
        done, n_required = counts
        return {"done_count": done, "total": n_required, "in_place": True}
    counts_context = {"done_count": card.done_today, "total": None, "in_place": False}
    if not is_swap(request):
        ahead = open_work(request.user, card.project, card.claim.stage)
        n_held = 1 + held_besides(request.user, card.project, card.claim.stage, card.claim.slot_id)
        counts_context["total"] = (
            f"{(card.done_today or 0) + n_held + ahead}{'+' if isinstance(ahead, AtLeast) else ''}"
        )
    return counts_context


def base_of(*parts: object) -> str:
    """Return what identifies a form as first shown: a draft is restored only into the same form."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _draft(request: HttpRequest, card: Card) -> dict[str, Any] | None:
    """Return the person's draft of this task, for the page's script."""
    draft = draft_of(request.user, card.claim.task_id)
    return {**draft.payload, "at": milliseconds(draft.updated_at)} if draft else None


def milliseconds(moment: datetime) -> int:
    """Return milliseconds since the epoch, as scripts count time."""
    return int(moment.timestamp() * 1000)


def sent_with(form: QueryDict) -> dict[str, Any]:
    """Return the arguments that every submit takes beside its answer: watch evidence and seconds spent."""
    watch = {name: _number(form.get(f"watch_{name}")) for name in TOP}
    return {"watch": watch, "seconds": _number(form.get("seconds"))}


def submission_of(request: HttpRequest, slug: str, token: str) -> Submission:
    """Return what every submit sends."""
    key = request.POST.get("idempotency_key", "")
    return Submission(request.user, token, key, timezone.now(), **sent_with(request.POST), slug=slug)


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def next_piece(
    request: HttpRequest,
    project: Project,
    stage: str,
    done: Record | None = None,
    *,
    last: Claim | None = None,
    show: Show | None = None,
) -> HttpResponse:
    """Claim the person's next task and open its page; without one, open the queue, which says why.

    `last`: the claim that was just submitted. If the page's script asked and the stage can `show` the next card, the
    answer is the card: one request per task. A person from a crowd study returns to their place when its tasks are
    done.
    """
    crowd, query = is_crowd(request), _done_query(done)
    if crowd and done is not None and (crowd_place := finished_place(request.user, project, stage)):
        request.session[CROWD_PLACE_KEY] = crowd_place.pk
        return redirect_to(request, reverse("annotation:place", args=[project.slug]) + query)
    try:
        next_claim = claim(request.user, project, stage, preferred=last.upcoming_slot if last else None)
    except NotAdmitted:
        next_claim = None
    except AnnotationError as error:
        if done is None:
            raise
        # The submission is stored even if there is no next task: the queue's page says both.
        messages.warning(request, str(error))
        next_claim = None
    if next_claim is None and crowd:
        return redirect_to(request, reverse("annotation:place", args=[project.slug]) + query)
    if next_claim is None:
        return redirect_to(request, queue_url(project, stage) + query)
    if show is None or not is_swap(request):
        return redirect(piece_url(project, next_claim) + query)
    return _swapped(request, next_claim, done, show)


def _done_query(done: Record | None) -> str:
    """Return the part of the address that names the new record."""
    return f"?{urlencode({'done': done_parameter(done)})}" if done else ""


def is_crowd(request: HttpRequest) -> bool:
    """Return whether the person works in a crowd study."""
    return CROWD_PLACE_KEY in request.session


def is_swap(request: HttpRequest) -> bool:
    """Return whether the page's script asks for content only, to replace what it shows."""
    return SWAP in request.headers


def redirect_to(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect, with a header for scripts, which cannot read the target."""
    return HttpResponse(status=204, headers={SWAP_GOES: address}) if is_swap(request) else redirect(address)


def redirect_lease_expired(
    request: HttpRequest, claim: Claim, problem: str = "", done: Record | None = None
) -> HttpResponse:
    """Redirect to the queue with a message about the expired lease.

    `done`: what this request submitted; the queue then reports that instead.
    """
    if done is None:
        ending = Lease.objects.filter(token=claim.token).values_list("ending", flat=True).first()
        messages.warning(request, problem or ENDED.get(ending or "", TIME_IS_UP))
    return redirect_to(request, queue_url(request.project, claim.stage) + _done_query(done))


def upcoming_source(request: HttpRequest, next_claim: Claim) -> str:
    """Return the address of the next task's probable clip, for the page to load it ahead, or "".

    That task's page uses the same address.
    """
    slot, video = next_claim.upcoming_slot, next_claim.upcoming_video
    if slot is None or next_claim.stage == Stage.UNSEEN:
        return ""
    if video is None:
        video = Slot.objects.filter(pk=slot).values_list("video", flat=True).first()
    return clip_url(request.project.slug, video, request.user.pk, Piece.SLOT, slot) if video else ""


def piece_url(project: Project, task_claim: Claim) -> str:
    return reverse(f"annotation:{task_claim.stage}", args=[project.slug, task_claim.token])


def queue_url(project: Project, stage: str) -> str:
    return reverse("annotation:queue", args=[project.slug, stage])
