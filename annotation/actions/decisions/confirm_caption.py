"""A researcher confirms that a caption in doubt is true of its video after all."""

from datetime import datetime

from django.utils import timezone

from annotation.actions.decisions import captions
from annotation.models import Involvement
from annotation.transactions import run_in_transaction
from corpus.models import Caption, DoubtSettled
from projects.models import User


def confirm_caption(person: User, caption_id: int, reason: str, *, now: datetime | None = None) -> Caption:
    """The caption leaves the repair queue; items and votes stay as they are. A later item may raise the doubt again.

    AnnotationError without a reason, and for a caption that is not in doubt.
    """
    why = captions.checked_reason(reason)
    return run_in_transaction(lambda: _confirm(person, caption_id, why, now or timezone.now()))


def _confirm(person: User, caption_id: int, reason: str, now: datetime) -> Caption:
    caption = captions.caption_in_doubt(person, caption_id)
    captions.settle(caption, DoubtSettled.CONFIRMED, person, reason, Involvement.Kind.SETTLED)
    return caption
