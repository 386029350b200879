"""What the work pages share: the lease, the frame of a page, what came with a submit, the next task, undoing."""

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
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.access import edit_for, judged_lease_for, lease_for, object_answer_for, review_for, vote_for
from annotation.actions.claims.claim import ROLE_OF_STAGE, claim
from annotation.claims import Claim, claim_of
from annotation.errors import AnnotationError, NotAdmitted
from annotation.models import Edit, Lease, ObjectAnswer, Review, SkipReason, Slot, Stage, Vote, VoteState
from annotation.models.stages import public_stage
from annotation.queries.cards import Card, claim_card, draft_of
from annotation.queries.crowd import finished_place
from annotation.queries.eligibility import JUDGING
from annotation.queries.queues import AtLeast, open_work
from annotation.rules.guidelines import render_guideline
from corpus.video_files.clip_tokens import Piece
from corpus.video_files.player import blind_clip, clip_url
from projects.access import get_project
from projects.crowd_entry import CROWD_PLACE_KEY
from projects.models import Project

Record = Edit | Review | Vote | ObjectAnswer
# A vote is one of a pair, or a choice of the human baseline.
GETTERS = {
    "edit": edit_for,
    "review": review_for,
    "vote": vote_for,
    "choice": vote_for,
    "objectanswer": object_answer_for,
}
# Row ids have at most so many digits; a longer number in the address is somebody's play.
MAX_ID_DIGITS = 18
# Asked by the page's script (foilworks/static/annotation/swap.js), and what it is told.
SWAP, SWAPPED_URL, SWAP_GOES = "X-Foilworks-Swap", "X-Foilworks-Url", "X-Foilworks-Go"
# What is typed in these is kept as a draft; an answer by key is not.
TYPED = frozenset({Stage.EDIT, Stage.REVIEW})


def guideline_html(text: str) -> SafeString:
    """The Markdown as HTML: render_guideline lets nothing through that could run or load."""
    # bandit B703: the renderer holds it to a list of tags.
    return SafeString(render_guideline(text, _("Good:"), _("Bad:")))  # nosec


@dataclass(frozen=True)
class Done:
    """`seconds` in which it can be undone; 0 where it cannot."""

    kind: str
    pk: int
    seconds: int
    note: str


def done_parameter(record: Record) -> str:
    """What the next page is told of the record in its address."""
    kind = "choice" if isinstance(record, Vote) and record.stage == Stage.BASELINE else record._meta.model_name
    return f"{kind}-{record.pk}"


def done_bar(request: HttpRequest) -> Done | None:
    """The person's record that `?done=` names; None for anything else. Http404 for somebody else's record."""
    kind, _dash, number = request.GET.get("done", "").partition("-")
    if kind not in GETTERS or not number.isdecimal() or len(number) > MAX_ID_DIGITS:
        return None
    return done_with(request, GETTERS[kind](request.user, int(number)))


def done_with(request: HttpRequest, record: Record) -> Done | None:
    """The same of a record in hand."""
    if getattr(record, "undone_at", None) or getattr(record, "state", None) == VoteState.UNDONE:
        return None
    age = (timezone.now() - record.created_at).total_seconds()
    left = round(request.project.undo_seconds - age) if record.slot_id else 0
    kind = done_parameter(record).partition("-")[0]
    return Done(kind, record.pk, max(0, left), _note(record)) if left > 0 or record.late else None


def _note(record: Record) -> str:
    if not record.late:
        return ""
    if record.slot_id:
        return _("The answer was late, but nobody had taken the task, so it counts.")
    return _("The answer was too late to count. It is saved.")


def my_claim(request: HttpRequest, slug: str, token: str, stage: str) -> Claim:
    """The person's own lease of the stage, running or over; 404 for anything else, 403 without the stage's role."""
    lease = my_lease(request, slug, token, stage)
    return claim_of(lease, lease.slot)


def my_lease(request: HttpRequest, slug: str, token: str, stage: str) -> Lease:
    """The same as the row; of an item's stage with all that its submit asks."""
    request.project = get_project(request.user, slug, ROLE_OF_STAGE[stage])
    lease = (judged_lease_for if stage in JUDGING else lease_for)(request.user, token)
    if lease.slot.project_id != request.project.pk or public_stage(lease.slot.stage) != stage:
        raise Http404(_("Task not found."))
    # The same row, with what is known of it already.
    lease.slot.project = request.project
    return lease


def answer_page(
    request: HttpRequest,
    claim: Claim,
    submit: Callable[[], Record],
    context: Callable[[Card, QueryDict], dict[str, Any]],
    *,
    counts_alone: bool = False,
) -> HttpResponse:
    """The page of a claim: POST submits the answer and goes to the next card, or shows what is wrong with it.

    `context`: what the stage's template needs, from the card and the form that was sent with a problem (else empty).
    `counts_alone`: the page's script counts on by itself, so that a swapped card needs no counts.
    """

    def show(request: HttpRequest, claim: Claim, done: Record | None, problem: str = "") -> HttpResponse:
        try:
            card = claim_card(request.user, claim, counted=not (counts_alone and is_swap(request)))
        except Http404:
            return redirect_lease_expired(request, claim, problem, done)
        return _work_page(request, card, context(card, QueryDict() if done else request.POST), problem, done)

    if request.method != "POST":
        return show(request, claim, None)
    try:
        record = submit()
    except AnnotationError as error:
        return show(request, claim, None, str(error))
    return next_piece(request, request.project, claim.stage, record, last=claim, show=show)


def _work_page(
    request: HttpRequest, card: Card, context: dict[str, Any], problem: str = "", done: Record | None = None
) -> HttpResponse:
    """The page of a card. With a `problem` it is the answer to a submit that stored nothing: status 400.

    `done` is what was submitted in this very request. A script that asks for it gets the content alone.
    """
    stage = card.claim.stage
    shown = {
        **context,
        "card": card,
        # The request's own path is that of the piece before, where this one is the answer to a submit.
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
        "total": None if is_swap(request) else _total(request, card),
        "done": done_with(request, done) if done else done_bar(request),
        "problem": problem,
    }
    return render(request, f"annotation/{stage}.html", shown, status=400 if problem else 200)


def _total(request: HttpRequest, card: Card) -> str:
    """How many tasks the person has today in this stage: done, this one and those that they may take.

    With a "+" where more wait than are counted. A card that the page's script fetches counts on from the one before.
    """
    ahead = open_work(request.user, card.project, card.claim.stage)
    return f"{(card.done_today or 0) + 1 + ahead}{'+' if isinstance(ahead, AtLeast) else ''}"


def base_of(*parts: object) -> str:
    """Names a form as it is first shown: a draft comes back only onto the form that it was begun on."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _draft(request: HttpRequest, card: Card) -> dict[str, Any] | None:
    """What the person had typed for this piece and not sent, for the page's script."""
    draft = draft_of(request.user, card.claim.task_id)
    return {**draft.payload, "at": milliseconds(draft.updated_at)} if draft else None


def milliseconds(moment: datetime) -> int:
    """Of the era, as scripts count time."""
    return int(moment.timestamp() * 1000)


def sent_with(form: QueryDict) -> dict[str, Any]:
    """The arguments that every submit takes beside its answer: what was watched and the seconds spent."""
    watch = {name: _number(form.get(f"watch_{name}")) for name in ("seconds", "loops", "covered")}
    return {"watch": watch, "seconds": _number(form.get("seconds"))}


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
    show: Callable[[HttpRequest, Claim, Record | None], HttpResponse] | None = None,
) -> HttpResponse:
    """Claims the person's next piece and goes to its page; without one to the queue's, which says why.

    `last`: the claim that was just submitted. Where the page's script asked and the stage can `show` the next card, it
    is the answer itself: one request a piece. Who came by a crowd study goes back to their place when its work is done.
    """
    crowd, query = CROWD_PLACE_KEY in request.session, _told(done)
    if crowd and done is not None and (place := finished_place(request.user, project, stage)):
        request.session[CROWD_PLACE_KEY] = place.pk
        return redirect_to(request, reverse("annotation:place", args=[project.slug]) + query)
    try:
        found = claim(request.user, project, stage, preferred=last.upcoming_slot if last else None)
    except NotAdmitted:
        found = None
    except AnnotationError as error:
        if done is None:
            raise
        # What was sent is stored, whatever keeps the next piece away: the queue's page says both.
        messages.warning(request, str(error))
        found = None
    if found is None and crowd:
        return redirect_to(request, reverse("annotation:place", args=[project.slug]) + query)
    if found is None:
        return redirect_to(request, queue_url(project, stage) + query)
    address = piece_url(project, found) + query
    if show is None or not is_swap(request):
        return redirect(address)
    response = show(request, found, done)
    response.headers[SWAPPED_URL] = address
    return response


def _told(done: Record | None) -> str:
    """What an address says of the record that was just made."""
    return f"?{urlencode({'done': done_parameter(done)})}" if done else ""


def is_swap(request: HttpRequest) -> bool:
    """Whether the page's script asks for content alone, to put it in the place of what it shows."""
    return SWAP in request.headers


def redirect_to(request: HttpRequest, address: str) -> HttpResponse:
    """A redirect, which scripts are told of in a header: they could not read where it leads."""
    return HttpResponse(status=204, headers={SWAP_GOES: address}) if is_swap(request) else redirect(address)


def redirect_lease_expired(
    request: HttpRequest, claim: Claim, problem: str = "", done: Record | None = None
) -> HttpResponse:
    """Back to the queue, with a word on why the piece is not shown.

    `done` is what was submitted in this very request: it is told of there, and nothing that could be taken for its end.
    """
    if done is None:
        messages.warning(request, problem or _("Your time for that task is up. Start the next one."))
    return redirect_to(request, queue_url(request.project, claim.stage) + _told(done))


def upcoming_source(request: HttpRequest, found: Claim) -> str:
    """Return where the clip of the piece that probably comes next is, for the page to load it ahead; else "".

    The page of that piece has its clip at the same address.
    """
    slot, video = found.upcoming_slot, found.upcoming_video
    if slot is None:
        return ""
    if video is None:
        video = Slot.objects.filter(pk=slot).values_list("video", flat=True).first()
    return clip_url(request.project.slug, video, request.user.pk, Piece.SLOT, slot) if video else ""


def piece_url(project: Project, found: Claim) -> str:
    return reverse(f"annotation:{found.stage}", args=[project.slug, found.token])


def queue_url(project: Project, stage: str) -> str:
    return reverse("annotation:queue", args=[project.slug, stage])
