"""A researcher settles an item whose votes were split."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import item_for
from annotation.actions._moves import move_item
from annotation.actions._transaction import committed
from annotation.actions._verdicts import locked_item
from annotation.errors import AnnotationError
from corpus.models import Foil, Item
from corpus.rules.states import FoilVerdict, ItemState
from projects.models import Role, User

OUTCOMES = (ItemState.VALID, ItemState.INVALID)


def adjudicate(person: User, item_id: int, outcome: str, reason: str, *, now: datetime | None = None) -> Item:
    """split -> valid or invalid; the pairs that were split take the outcome. Votes stay as they are.

    AnnotationError without a reason, IllegalMove for an item that is not split.
    """
    if outcome not in OUTCOMES:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(OUTCOMES)})
    if not reason.strip():
        raise AnnotationError(_("Say why: the reason is kept with the item."))
    return committed(lambda: _adjudicate(person, item_id, outcome, reason.strip(), now or timezone.now()))


def _adjudicate(person: User, item_id: int, outcome: str, reason: str, now: datetime) -> Item:
    item = locked_item(item_for(person, item_id, Role.RESEARCHER).pk)
    move_item(
        item, "adjudicate", item.subtest.project, person, outcome=outcome, reason=reason, also={"decided_at": now}
    )
    verdict = FoilVerdict.VALID if outcome == ItemState.VALID else FoilVerdict.INVALID
    Foil.objects.filter(item=item, verdict=FoilVerdict.SPLIT).update(verdict=verdict)
    return item
