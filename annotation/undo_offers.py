"""Offer the undo of decisions on the page that follows them."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.core import signing
from django.utils import timezone

from annotation.actions.decisions.undo_decisions import UNDO_SECONDS, undo_decision, undoable_decisions
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, User
from foilworks.core.text.errors import ActionableError

SALT = "foilworks.decisions.undo"


@dataclass(frozen=True)
class UndoOffer:
    """`back`: the page to return to after the undo."""

    token: str
    events: list[int]
    back: str
    until: datetime


@dataclass
class Undone:
    """How many decisions were undone, and (item, why) of each that was not."""

    done: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def undo_token(person: User, model: type[Item] | type[Caption], ids: Collection[int], back: str) -> str:
    """Return the token with which the next page offers to undo the person's decisions; empty if there are none."""
    events = undoable_decisions(person, model, ids) if ids else []
    return signing.dumps([[event.pk for event in events], back], salt=SALT, compress=True) if events else ""


def undo_offer(token: str) -> UndoOffer | None:
    """Return the offer of a token that is whole and at most UNDO_SECONDS old."""
    try:
        (events, back), signed = signing.loads(token, salt=SALT, max_age=UNDO_SECONDS), _signed_at(token)
    except signing.BadSignature:
        return None
    return UndoOffer(token, events, back, signed + timedelta(seconds=UNDO_SECONDS))


def _signed_at(token: str) -> datetime:
    _value, moment, _signature = token.rsplit(":", 2)
    return datetime.fromtimestamp(signing.b62_decode(moment), tz=timezone.get_current_timezone())


def undo_all(person: User, offer: UndoOffer) -> Undone:
    """Undo each decision of the offer; one that cannot be undone stops no other."""
    undone = Undone()
    for event in AuditEvent.objects.filter(pk__in=offer.events).order_by("pk"):
        try:
            undo_decision(person, event.pk)
        except AccessDenied:
            raise
        except ActionableError as error:
            undone.refused.append((_name_of(event), str(error)))
        else:
            undone.done += 1
    return undone


def _name_of(event: AuditEvent) -> str:
    model = Item if event.target_type == Item._meta.label_lower else Caption
    return model.objects.filter(pk=event.target_id).values_list("key", flat=True).first() or ""
