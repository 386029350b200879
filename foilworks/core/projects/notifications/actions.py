"""Store notifications, mark them as read, and store what a person chose about them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import MailFrequency, Notification, NotificationSettings, User
from foilworks.core.projects.notifications.kinds import Channel, channel_of
from foilworks.core.projects.notifications.queries import notifications_of

# Older notifications are deleted.
KEEP = timedelta(days=90)


@dataclass(frozen=True)
class Draft:
    """A notification before it is stored. `key`: what it is about; the same key stores nothing new."""

    person_id: int
    project_id: int
    role: str
    kind: str
    key: str
    facts: dict[str, Any] = field(default_factory=dict, compare=False)


def store(drafts: Collection[Draft], now: datetime) -> int:
    """Store the drafts that are new and that their people did not switch off; return how many."""
    people = {draft.person_id for draft in drafts}
    channels_by_person = dict(NotificationSettings.objects.filter(person__in=people).values_list("person", "channels"))
    stored_keys = set(
        Notification.objects.filter(person__in=people, key__in={draft.key for draft in drafts}).values_list(
            "person", "kind", "key"
        )
    )
    new = {
        (draft.person_id, draft.kind, draft.key): draft
        for draft in drafts
        if (draft.person_id, draft.kind, draft.key) not in stored_keys
        and channel_of(channels_by_person.get(draft.person_id, {}), draft.kind) != Channel.OFF
    }
    rows = [
        Notification(
            person_id=draft.person_id,
            project_id=draft.project_id,
            role=draft.role,
            kind=draft.kind,
            key=draft.key,
            facts=draft.facts,
            created_at=now,
        )
        for draft in new.values()
    ]
    # Another supervisor may store the same ones at this moment.
    Notification.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def withdraw(kind: str, keys: Collection[str]) -> None:
    """Delete notifications of what was undone."""
    if keys:
        Notification.objects.filter(kind=kind, key__in=keys).delete()


def delete_old(now: datetime) -> None:
    """Delete notifications older than KEEP. The oldest row is looked at first: most calls delete nothing."""
    oldest = Notification.objects.order_by("pk").values_list("created_at", flat=True).first()
    if oldest is not None and oldest < now - KEEP:
        Notification.objects.filter(created_at__lt=now - KEEP).delete()


def mark_read(person: User, pk: int | None = None, *, now: datetime | None = None) -> int:
    """Mark one notification of the person as read, or all of them; return how many were unread."""
    unread = notifications_of(person).filter(read_at=None)
    rows = unread if pk is None else unread.filter(pk=pk)
    # By key: SQLite and PostgreSQL update no query with a join.
    keys = list(rows.values_list("pk", flat=True))
    return Notification.objects.filter(pk__in=keys).update(read_at=now or timezone.now()) if keys else 0


@transaction.atomic
def save_settings(person: User, mail: str, channels: Mapping[str, str], *, now: datetime | None = None) -> None:
    """Store the person's choices; kinds that are not in `channels` keep theirs. Mails begin with what happens now."""
    moment = now or timezone.now()
    row, _made = NotificationSettings.objects.select_for_update(of=("self",), no_key=True).get_or_create(
        person=person, defaults={"changed_at": moment}
    )
    row.mail, row.channels = mail, {**row.channels, **channels}
    row.changed_at = row.next_mail_at = moment
    row.save()
    audit.record(audit.event(None, person, "projects.save_notification_settings", person, mail=mail))


@transaction.atomic
def stop_mail(person_id: int) -> None:
    """Send no more mail to the person; the notifications stay in the app."""
    rows = NotificationSettings.objects.filter(person=person_id).exclude(mail=MailFrequency.OFF)
    if rows.update(mail=MailFrequency.OFF):
        person = User.objects.get(pk=person_id)
        audit.record(audit.event(None, person, "projects.unsubscribe", person))
