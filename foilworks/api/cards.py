"""A piece of work as a program sees it: exactly what its page shows, and nothing that the page keeps from people."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core import signing
from django.urls import reverse
from ninja import Schema

from annotation.claims import Claim
from annotation.queries import Card, ReviewWork, Suggestion, claim_card
from corpus.clip import player_clip
from projects.models import Project, User

SALT = "foilworks.api.upcoming"


class ClipOut(Schema):
    """`start`, `end`: what is shown of it, in seconds; `url`: below this address with the same token, or https."""

    id: int
    url: str
    start: float | None
    end: float | None
    fps: float | None


class SuggestionOut(Schema):
    id: int
    text: str
    returned: bool


class EditOut(Schema):
    """`wanted` texts are to be written; `others` are under way or accepted already."""

    caption: str
    wanted: int
    suggestions: list[SuggestionOut]
    others: list[str]


class ReviewOut(Schema):
    caption: str
    foil: str
    others: list[str]


class WorkOut(Schema):
    """Of `texts`, `edit`, `review` and `objects` what the stage has: texts are answered by their place."""

    token: str
    stage: str
    project: str
    task: int
    expires_at: datetime
    resumed: bool
    upcoming: str | None
    subtest: str | None
    guideline_version: int | None
    video: ClipOut
    texts: list[str] = []
    edit: EditOut | None = None
    review: ReviewOut | None = None
    objects: list[str] = []
    frame_url: str | None = None


def work_out(person: User, claim: Claim, project: Project) -> WorkOut:
    """The card of the person's claim; Http404 where the lease is over."""
    card = claim_card(person, claim, counted=False)
    return WorkOut(
        token=claim.token,
        stage=claim.stage,
        project=project.slug,
        task=claim.task_id,
        expires_at=claim.expires_at,
        resumed=claim.resumed,
        upcoming=_sealed(person, claim.upcoming_slot),
        subtest=card.subtest.name if card.subtest else None,
        guideline_version=card.guideline_version,
        video=_clip(card, project),
        texts=_texts(card),
        edit=_edit(card),
        review=_review(card.review) if card.review else None,
        objects=list(card.objects.objects) if card.objects else [],
        frame_url=_frame(card, project),
    )


def place_after(person: User, sealed: str) -> int | None:
    """The place that `upcoming` of a piece of this person stands for; None for anything else: nobody picks a place."""
    try:
        whose, place = signing.loads(sealed, salt=SALT)
    except signing.BadSignature:
        return None
    return place if whose == person.pk else None


def _sealed(person: User, place: int | None) -> str | None:
    return signing.dumps([person.pk, place], salt=SALT) if place else None


def _clip(card: Card, project: Project) -> ClipOut:
    clip, video = player_clip(card.video), card.video
    ours = clip["src"].startswith("/")
    url = reverse("api:read_media", args=[project.slug, video.pk]) if ours else clip["src"]
    return ClipOut(id=video.pk, url=url, start=clip["start"], end=clip["end"], fps=clip["fps"])


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


def _suggestions(found: Sequence[Suggestion]) -> list[SuggestionOut]:
    return [SuggestionOut(id=each.candidate_id, text=each.text, returned=each.returned) for each in found]


def _review(work: ReviewWork) -> ReviewOut:
    return ReviewOut(caption=work.caption.text, foil=work.foil.text, others=work.others)


def _frame(card: Card, project: Project) -> Any:
    return reverse("api:read_frame", args=[project.slug, card.objects.frame_id]) if card.objects else None
