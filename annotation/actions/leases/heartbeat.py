"""A page that is still open renews its lease."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import lease_for
from annotation.errors import LeaseEnded
from annotation.models import Slot, SlotState
from projects.models import User


def heartbeat(person: User, token: str, *, now: datetime | None = None) -> datetime:
    """The new end of the lease. One that has expired is renewed too, as long as nobody has freed the slot.

    LeaseEnded otherwise; Http404 for a token that is not the person's. Not a change of state, so no audit row.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        lease = lease_for(person, token)
        expires = moment + timedelta(seconds=lease.slot.project.lease_seconds)
        running = Slot.objects.filter(pk=lease.slot_id, state=SlotState.LEASED, token=token, person=person)
        if not running.update(expires_at=expires, heartbeat_at=moment):
            raise LeaseEnded(
                _("Your time on this piece is over. You can still submit: it is kept, and counts if its place is free.")
            )
    return expires
