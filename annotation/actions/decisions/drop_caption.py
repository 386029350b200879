"""A researcher gives up a video whose caption is false: all its items are taken out, nothing more is made of it."""

from datetime import datetime

from django.utils import timezone

from annotation.actions.decisions import captions
from annotation.models import Involvement
from annotation.transactions import run_in_transaction
from corpus.models import Caption, DoubtSettled, Item
from generation.models import CandidateGroup
from projects.models import User

MOVE = "drop_with_video"


def drop_caption(person: User, caption_id: int, reason: str, *, now: datetime | None = None) -> Caption:
    """Retract the video's items, drop its foils that are under way; votes, releases and texts stay as a record.

    AnnotationError without a reason, and for a caption that is not in doubt.
    """
    why = captions.checked_reason(reason)
    return run_in_transaction(lambda: _drop(person, caption_id, why, now or timezone.now()))


def _drop(person: User, caption_id: int, reason: str, now: datetime) -> Caption:
    caption = captions.caption_in_doubt(person, caption_id)
    project, video = caption.video.project, caption.video_id
    items = captions.withdraw_items(Item.objects.filter(video=video), MOVE, project, person, reason, now)
    groups = CandidateGroup.objects.filter(caption__video=video)
    dropped = captions.withdraw_candidates(groups, MOVE, project, person, reason, now)
    others = Caption.objects.filter(video=video).exclude(doubt_settled=DoubtSettled.CORRECTED)
    others.update(doubt_settled=DoubtSettled.DROPPED)
    captions.settle(
        caption,
        DoubtSettled.DROPPED,
        person,
        reason,
        Involvement.Kind.SETTLED,
        items=len(items),
        foils=sum(map(len, dropped.values())),
    )
    return caption
