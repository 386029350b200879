"""A page keeps what its person has typed so far."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import lease_for
from annotation.errors import AnnotationError, LeaseEnded
from annotation.models import Draft, Ending
from annotation.rules.drafts import parse_draft
from annotation.transactions import run_in_transaction, serialize_writes
from projects.models import User


def save_draft(person: User, token: str, text: str, *, now: datetime | None = None) -> datetime:
    """Store the draft of the lease's task, over the one before; when that was.

    A lease that has run out still takes drafts, as it takes late work; LeaseEnded where the work was submitted under
    it already. AnnotationError for what is no draft, Http404 for a token that is not the person's. It changes no
    state, so there is no audit row.
    """
    payload = parse_draft(text)
    if payload is None:
        raise AnnotationError(_("This cannot be kept as a draft: it is too long or not what the page sends."))
    return run_in_transaction(lambda: _save(person, token, payload, now or timezone.now()))


def _save(person: User, token: str, payload: dict, now: datetime) -> datetime:
    serialize_writes(person)
    lease = lease_for(person, token)
    if lease.ending == Ending.SUBMITTED:
        raise LeaseEnded(_("This was sent already; there is nothing left to keep."))
    Draft.objects.update_or_create(
        person=person, task_id=lease.task_id, defaults={"payload": payload, "updated_at": now}
    )
    return now
