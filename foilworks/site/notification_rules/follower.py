"""Follow the audit trail and write notifications, so that no write of people's work gets slower by them.

Events are read by their number. A transaction can commit after one with a higher number, so what is younger than
COMMIT_WINDOW is read again; the same event stores nothing twice. Any number of processes may follow at once.
"""

from datetime import datetime, timedelta

from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import AuditEvent, NotificationCursor
from foilworks.core.projects.notifications.actions import delete_old, store, withdraw
from foilworks.site.notification_rules.rules import ACTIONS, MAX_LEASES, RULES, Window, announce_ended_runs

COMMIT_WINDOW = timedelta(minutes=5)
# After a longer stop, nobody is notified of what is older.
MAX_AGE = timedelta(days=7)


def follow(now: datetime | None = None) -> int:
    """Write the notifications of what happened since the last call, and return how many are new.

    The first call of an installation only notes where the trail ends.
    """
    now = now or timezone.now()
    cursor = NotificationCursor.objects.filter(pk=1).first()
    if cursor is None:
        newest = _last(AuditEvent.objects.all()) or 0
        NotificationCursor.objects.get_or_create(pk=1, defaults={"event_id": newest, "at": now})
        return 0
    window = _window(cursor, now)
    withdraw("returned", _undone_reviews(window))
    announce_ended_runs(window)
    written = store([draft for rule in RULES for draft in rule(window)], now)
    _advance(cursor, now)
    return written


def _window(cursor: NotificationCursor, now: datetime) -> Window:
    since = max(cursor.at - COMMIT_WINDOW, now - MAX_AGE)
    fresh = AuditEvent.objects.filter(pk__gt=cursor.event_id, at__gte=now - MAX_AGE)
    live = fresh.filter(project__archived_at=None, project__deleted_at=None, project__isnull=False)
    disputed = Q(target_type="corpus.item", to_state=ItemState.DISPUTED)
    events = list(live.filter(Q(action__in=ACTIONS) | disputed).order_by("pk"))
    leased = fresh.filter(action="lease", target_type="annotation.slot").order_by("-pk")
    slots = [int(number) for number in leased.values_list("target_id", flat=True)[:MAX_LEASES]]
    return Window(events, slots, since, now)


def _undone_reviews(window: Window) -> set[str]:
    return {event.target_id for event in window.of("undo_review")}


def _advance(cursor: NotificationCursor, now: datetime) -> None:
    """Move the cursor behind older events, at most once in COMMIT_WINDOW: an idle installation writes little."""
    if now - cursor.at < COMMIT_WINDOW:
        return
    older = AuditEvent.objects.filter(pk__gt=cursor.event_id, at__lt=now - COMMIT_WINDOW)
    new_position = {"event_id": _last(older) or cursor.event_id, "at": now}
    NotificationCursor.objects.filter(pk=cursor.pk, at__lt=now).update(**new_position)
    delete_old(now)


def _last(events: QuerySet[AuditEvent]) -> int | None:
    return events.aggregate(last=Max("pk"))["last"]
