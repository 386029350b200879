"""Work on a claimed task: read it again, keep its lease, submit it or skip it."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import Http404, HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema, Status
from ninja.responses import Response
from pydantic import BaseModel

from annotation.access import edit_for, lease_for, object_answer_for, review_for, vote_for
from annotation.actions.claims.claim import claim
from annotation.actions.leases import leasing
from annotation.actions.submissions.judgements import judge_and_claim, submit_choice, submit_objects, submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submission import StoredWork, Submission
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.undo import undo_choice, undo_edit, undo_objects, undo_review, undo_vote
from annotation.errors import NotAdmitted, OtherStage
from annotation.messages import TIME_IS_UP
from annotation.models import Edit, Lease, ObjectAnswer, Review, Stage, Vote
from annotation.models.stages import public_stage
from annotation.queries.cards import claim_of
from foilworks.core.projects.access import require_consent, require_role
from foilworks.core.projects.models import Project
from foilworks.site.api.answers import InvalidIdempotencyKey, reads, writes
from foilworks.site.api.bearer import WORK
from foilworks.site.api.cards import WorkOut, work_out
from foilworks.site.api.idempotency import HEADER, checked_key
from foilworks.site.api.shapes import Id, Text, Word

router = Router(tags=["work"])
Record = Edit | Review | Vote | ObjectAnswer
MAX_TEXTS = 99


class Watch(Schema):
    """How the clip was watched: seconds played, number of plays, share of it in 0..1."""

    seconds: float = Field(0, ge=0, le=1e9)
    loops: int = Field(0, ge=0, le=10**6)
    covered: float = Field(0, ge=0, le=1)


class Answer(Schema):
    """The fields that the stage requires.

    validation: `answer` 1 to 5 or first, second, neither, both, cannot_tell, as shown; with more than two texts, the
    position of the true one, or neither, both (several are true), cannot_tell. baseline, unseen: `answer`, the
    position of the chosen text. edit: `texts`, and for each the suggestion that it came from. review: `decision`
    accept, send_back, drop or fix, with `reasons`, `comment`, `fixed_text`. objects: `objects`,
    {"0": "yes" or "no", …}.
    """

    answer: Annotated[int, Field(ge=1, le=99)] | Word = ""
    texts: list[Text] = Field([], max_length=MAX_TEXTS)
    parents: list[Id | None] = Field([], max_length=MAX_TEXTS)
    decision: Word = ""
    reasons: list[Word] = Field([], max_length=MAX_TEXTS)
    comment: Text = ""
    fixed_text: Text = ""
    objects: dict[str, Word] = {}
    watch: Watch | None = None
    seconds: float | None = Field(None, ge=0, le=1e9)


class Submitted(BaseModel):
    """The stored answer, once per Idempotency-Key.

    `late`: the lease had ended; the answer is stored, and counts if it can. `next`: your next task of the stage, if you
    asked for it; null if none is available to you: a claim says why.
    """

    id: int
    stage: str
    late: bool
    at: datetime
    next: WorkOut | None = None


class Following(Schema):
    """`next`: also claim the next task of the stage."""

    next: bool = False


class Held(Schema):
    expires_at: datetime


class DraftIn(Schema):
    """`draft`: the page's JSON of a draft."""

    draft: Text


class Drafted(Schema):
    at: datetime


UndoKind = Literal["edit", "review", "vote", "choice", "objects"]
UNDO: dict[str, tuple[Any, Any]] = {
    "edit": (edit_for, undo_edit),
    "review": (review_for, undo_review),
    "vote": (vote_for, undo_vote),
    "choice": (vote_for, undo_choice),
    "objects": (object_answer_for, undo_objects),
}


@router.get("/{slug:token}", response=reads(WorkOut))
def read_work(request: HttpRequest, token: str) -> WorkOut:
    """Get the task again; 404 if the lease has ended or belongs to somebody else."""
    lease = _check_membership(request, lease_for(request.user, token))
    if lease.ending or lease.slot.token != token:
        raise Http404(str(TIME_IS_UP))
    return work_out(request.user, claim_of(lease, lease.slot, resumed=True), lease.slot.project)


@router.post("/{slug:token}/heartbeat", response=writes(Held), auth=WORK)
def heartbeat(request: HttpRequest, token: str) -> Held:
    """Extend the lease on the task; 410 if it has ended."""
    _check_membership(request, lease_for(request.user, token))
    return Held(expires_at=leasing.heartbeat(request.user, token))


@router.post("/{slug:token}/submit", response=writes(Submitted, 201), auth=WORK)
def submit(request: HttpRequest, token: str, body: Answer, following: Query[Following]) -> Status | Response:
    """Submit the task. The same Idempotency-Key returns the same record; without one, a task can be submitted once."""
    key = checked_key(request.headers.get(HEADER, token))
    if following.next:
        with suppress(OtherStage):
            sent = Submission(request.user, token, key, timezone.now(), **_common_fields(body))
            return _submitted_and_next(request, judge_and_claim(sent, body.answer))
    lease = _check_membership(request, lease_for(request.user, token))
    stage = public_stage(lease.slot.stage)
    record = SUBMITS[stage](request, lease, key, body)
    _check_is_of(record, lease)
    piece = _next(request, lease, stage) if following.next else None
    return Status(201, Submitted(id=record.pk, stage=stage, late=record.late, at=record.created_at, next=piece))


def _submitted_and_next(request: HttpRequest, done: StoredWork[Vote]) -> Response:
    """Return the response as JSON: checking a third time what the schema has checked takes a tenth of the request."""
    vote, project = done.record, done.lease.slot.project
    _check_is_of(vote, done.lease)
    if done.claim is not None:
        piece = work_out(request.user, done.claim, project)
    else:
        piece = _next(request, done.lease, Stage.VALIDATION)
    submitted = Submitted(id=vote.pk, stage=Stage.VALIDATION, late=vote.late, at=vote.created_at, next=piece)
    return Response(submitted.model_dump(), status=201)


@router.delete("/{slug:token}", response=writes(None, 204), auth=WORK)
def skip(request: HttpRequest, token: str) -> Status:
    """Return the task; you get it again only when nothing else is left."""
    _check_membership(request, lease_for(request.user, token))
    leasing.release(request.user, token)
    return Status(204, None)


@router.post("/{slug:token}/decline", response=writes(None, 204), auth=WORK)
def decline(request: HttpRequest, token: str) -> Status:
    """Decline the task at its content warning: you get no more tasks for this clip."""
    _check_membership(request, lease_for(request.user, token))
    leasing.decline_video(request.user, token)
    return Status(204, None)


@router.post("/{slug:token}/draft", response=writes(Drafted), auth=WORK)
def save_draft(request: HttpRequest, token: str, body: DraftIn) -> Drafted:
    """Save a draft, as the page does; 410 if the task was already submitted."""
    _check_membership(request, lease_for(request.user, token))
    return Drafted(at=leasing.save_draft(request.user, token, body.draft))


@router.post("/undo/{slug:kind}/{int:pk}", response=writes(WorkOut), auth=WORK)
def undo(request: HttpRequest, kind: UndoKind, pk: int) -> WorkOut:
    """Undo your last answer (the `id` of a submit) while it can be undone; you get its task again."""
    get, act = UNDO[kind]
    record = get(request.user, pk)
    project = record.slot.project if record.slot_id else None
    if project is None:
        raise Http404(_("Task not found."))
    require_role(request.user, project)
    return work_out(request.user, act(request.user, pk), project)


def _next(request: HttpRequest, lease: Lease, stage: str) -> WorkOut | None:
    return _claim_next(request, lease.slot.project, stage, lease.upcoming_slot)


def _claim_next(request: HttpRequest, project: Project, stage: str, preferred: int | None = None) -> WorkOut | None:
    """Claim the next task. The answer is already stored, so a failed claim must not look like a failed submit."""
    try:
        claimed = claim(request.user, project, stage, preferred=preferred)
    except NotAdmitted:
        return None
    return work_out(request.user, claimed, project) if claimed else None


def _check_membership(request: HttpRequest, lease: Lease) -> Lease:
    """Return the lease of a person who is still a member and has given the consent that members need."""
    require_role(request.user, lease.slot.project)
    require_consent(request.user, lease.slot.project)
    return lease


def _check_is_of(record: Record, lease: Lease) -> None:
    """Raise InvalidIdempotencyKey unless the record belongs to the lease's task."""
    columns = ("item_id", "gold_id", "group_id", "candidate_id", "frame_id")
    if any(getattr(record, name) != getattr(lease.task, name) for name in columns if hasattr(record, name)):
        raise InvalidIdempotencyKey(
            _("This Idempotency-Key was used for a different task. Send a new one for each task.")
        )


def _common_fields(body: Answer) -> dict[str, Any]:
    return {"watch": body.watch.dict() if body.watch else None, "seconds": body.seconds}


def _vote(request: HttpRequest, lease: Lease, key: str, body: Answer) -> Record:
    return submit_vote(request.user, lease.token, key, body.answer, **_common_fields(body))


def _choice(request: HttpRequest, lease: Lease, key: str, body: Answer) -> Record:
    stage = lease.slot.stage
    return submit_choice(request.user, lease.token, key, body.answer, stage=stage, **_common_fields(body))


def _edit(request: HttpRequest, lease: Lease, key: str, body: Answer) -> Record:
    return submit_edit(request.user, lease.token, key, body.texts, body.parents, **_common_fields(body))


def _review(request: HttpRequest, lease: Lease, key: str, body: Answer) -> Record:
    decision = ReviewAnswer(body.decision, body.reasons, body.comment, body.fixed_text)
    return submit_review(request.user, lease.token, key, decision, **_common_fields(body))


def _objects(request: HttpRequest, lease: Lease, key: str, body: Answer) -> Record:
    return submit_objects(request.user, lease.token, key, body.objects, seconds=body.seconds)


SUBMITS = {
    Stage.EDIT: _edit,
    Stage.REVIEW: _review,
    Stage.VALIDATION: _vote,
    Stage.BASELINE: _choice,
    Stage.UNSEEN: _choice,
    Stage.OBJECTS: _objects,
}
