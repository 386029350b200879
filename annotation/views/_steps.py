"""What the work pages share: whose lease it is, the frame of a page, what came with a submit, where it goes next."""

import hashlib
import json
import secrets
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import lease_for
from annotation.actions.claim import ROLE_OF_STAGE, claim
from annotation.claims import Claim, claim_of
from annotation.queries import Card, draft_of
from annotation.views._done import Record, done_bar, done_parameter
from annotation.views._guidelines import guideline_html
from corpus.clip import player_clip
from projects.access import get_project
from projects.models import Project


def my_claim(request: HttpRequest, slug: str, token: str, stage: str) -> Claim:
    """The person's own lease of the stage, running or over; 404 for anything else, 403 without the stage's role."""
    request.project = get_project(request.user, slug, ROLE_OF_STAGE[stage])
    lease = lease_for(request.user, token)
    if lease.slot.project_id != request.project.pk or lease.slot.stage != stage:
        raise Http404(_("There is no such work of yours."))
    return claim_of(lease, lease.slot)


def work_page(request: HttpRequest, card: Card, context: dict[str, Any], problem: str = "") -> HttpResponse:
    """The page of a card. With a `problem` it is the answer to a submit that stored nothing: status 400."""
    stage = card.claim.stage
    shown = {
        **context,
        "card": card,
        "clip": player_clip(card.video),
        "guideline": {"version": card.guideline_version, "html": guideline_html(card.guideline_text)},
        "seconds_left": max(0, round((card.claim.expires_at - timezone.now()).total_seconds())),
        "key": request.POST.get("idempotency_key") or secrets.token_urlsafe(24),
        "draft_key": f"{stage}-{card.claim.task_id}-{request.user.pk}",
        "draft_now": milliseconds(timezone.now()),
        "draft": _draft(request, card),
        "done": done_bar(request),
        "problem": problem,
    }
    return render(request, f"annotation/{stage}.html", shown, status=400 if problem else 200)


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
    request: HttpRequest, project: Project, stage: str, done: Record | None = None
) -> HttpResponse:
    """Claims the person's next piece and goes to its page; without one to the queue's, which says why."""
    found = claim(request.user, project, stage)
    query = f"?{urlencode({'done': done_parameter(done)})}" if done else ""
    return redirect((piece_url(project, found) if found else queue_url(project, stage)) + query)


def lost(request: HttpRequest, claim: Claim, problem: str = "") -> HttpResponse:
    """Back to the queue, with a word on why the piece is not shown."""
    messages.warning(request, problem or _("Your time on that piece is over; take the next."))
    return redirect(queue_url(request.project, claim.stage))


def piece_url(project: Project, found: Claim) -> str:
    return reverse(f"annotation:{found.stage}", args=[project.slug, found.token])


def queue_url(project: Project, stage: str) -> str:
    return reverse("annotation:queue", args=[project.slug, stage])
