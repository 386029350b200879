"""Describe a task to a program: exactly what its page shows, and nothing that the page hides."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.crypto import salted_hmac
from pydantic import BaseModel

from annotation.models import Lease, Stage
from annotation.queries.cards import Card, Claim, claim_card
from annotation.queries.foil_cards import ReviewWork, Suggestion
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.player import Piece, clip_token, has_source, trim_in_seconds
from foilworks.core.projects.models import Project, User

SALT = "foilworks.api.task"
# This many bits are an integer in every client's JSON.
TASK_BITS = 53


class ClipOut(BaseModel):
    """`start`, `end`: the part to show, in seconds; `url`: request it with the same token.

    `id`: a number of the clip for you and this task only. It identifies no row and does not reveal the video.
    """

    id: int
    url: str
    start: float | None
    end: float | None
    fps: float | None


class SuggestionOut(BaseModel):
    id: int
    text: str
    returned: bool


class EditOut(BaseModel):
    """Write `wanted` texts; `others` are in progress or already accepted."""

    caption: str
    wanted: int
    suggestions: list[SuggestionOut]
    others: list[str]


class ReviewOut(BaseModel):
    caption: str
    foil: str
    others: list[str]


class WorkOut(BaseModel):
    """A task with the `texts`, `edit`, `review` or `objects` of its stage; answer texts by their position.

    Validation has two texts, or all texts of a multiple-choice item.

    `task`: a number that is the same for everyone who works on the task, and reveals nothing else. `upcoming`: send it
    as `after` with the next claim; null if nothing comes next. `video` is null in the stage unseen.
    """

    token: str
    stage: str
    project: str
    task: int
    expires_at: datetime
    resumed: bool
    upcoming: str | None
    subtest: str | None
    guideline_version: int | None
    video: ClipOut | None
    texts: list[str] = []
    edit: EditOut | None = None
    review: ReviewOut | None = None
    objects: list[str] = []
    frame_url: str | None = None


def work_out(person: User, claim: Claim, project: Project) -> WorkOut:
    """Return the card of the person's lease. Raises Http404 if the lease has ended."""
    card = claim_card(person, claim, counted=False)
    return WorkOut(
        token=claim.token,
        stage=claim.stage,
        project=project.slug,
        task=task_number(claim.task_id),
        expires_at=claim.expires_at,
        resumed=claim.resumed,
        upcoming=claim.token if claim.upcoming_slot else None,
        subtest=card.subtest.name if card.subtest else None,
        guideline_version=card.guideline_version,
        video=_clip(person, card, project),
        texts=_texts(card),
        edit=_edit(card),
        review=_review(card.review) if card.review else None,
        objects=list(card.objects.objects) if card.objects else [],
        frame_url=_frame(card, project),
    )


def task_number(task_id: int) -> int:
    """Return the task's number for programs.

    The number of its row would reveal its age: which tasks are gold, since those are created when they are first
    served, and how the texts of a baseline are drawn.
    """
    return opaque_number(task_id)


def opaque_number(target: object) -> int:
    """Return a number that programs can compare and that reveals nothing about the object."""
    digest = salted_hmac(SALT, str(target), secret=settings.DERIVATION_KEY, algorithm="sha256").digest()
    return int.from_bytes(digest[:8]) >> (64 - TASK_BITS)


def place_after(person: User, token: str) -> int | None:
    """Return the slot named as upcoming with a task of this person; None otherwise, so that nobody picks a slot."""
    if not token:
        return None
    return Lease.objects.filter(token=token, person=person).values_list("upcoming_slot", flat=True).first()


def _clip(person: User, card: Card, project: Project) -> ClipOut | None:
    if card.claim.stage == Stage.UNSEEN:
        return None
    token, url = clip_address(project.slug, person, card.video, Piece.SLOT, card.claim.slot_id)
    start, end = trim_in_seconds(card.video)
    return ClipOut(id=opaque_number(token), url=url, start=start, end=end, fps=card.video.fps)


def clip_address(slug: str, person: User, video: Video, piece: Piece, number: int) -> tuple[str, str]:
    """Return the token of a clip for one person and task, and its address: "" without a file."""
    token = clip_token(video.pk, person.pk, piece, number)
    return token, reverse("api:read_clip", args=[slug, token]) if has_source(video) else ""


def _texts(card: Card) -> list[str]:
    if card.validation:
        return [card.validation.first.text, card.validation.second.text]
    return list(card.baseline.texts) if card.baseline else []


def _edit(card: Card) -> EditOut | None:
    work = card.edit
    if work is None:
        return None
    return EditOut(
        caption=work.caption.text, wanted=work.wanted, suggestions=_suggestions(work.suggestions), others=work.others
    )


def _suggestions(suggestions: Sequence[Suggestion]) -> list[SuggestionOut]:
    return [
        SuggestionOut(id=suggestion.candidate_id, text=suggestion.text, returned=suggestion.returned)
        for suggestion in suggestions
    ]


def _review(work: ReviewWork) -> ReviewOut:
    return ReviewOut(caption=work.caption.text, foil=work.foil.text, others=work.others)


def _frame(card: Card, project: Project) -> Any:
    return reverse("api:read_frame", args=[project.slug, card.objects.frame_id]) if card.objects else None
