"""Send the webhook deliveries that are due.

Any number of hosts may send: each webhook has at most one open attempt. One that fails, also by a timeout, is paused
for longer and longer.
"""

from collections.abc import Callable
from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from foilworks.core.projects.models import Delivery, Webhook
from foilworks.core.projects.webhooks.events import CLAIM_TIMEOUT, deliver, with_jitter

# Deliveries per turn of one webhook.
MAX_PER_TURN = 50
FIRST_PAUSE, MAX_PAUSE = timedelta(seconds=5), timedelta(hours=1)
# A webhook that failed so often in a row, and for so long, is stopped.
MAX_FAILURES, MAX_FAILING = 10, timedelta(days=1)
DUE = {"state": Delivery.State.WAITING}


def due_webhooks() -> list[tuple[int, str]]:
    """Return (key, URL) of the webhooks that have a delivery due and are neither stopped, paused nor busy."""
    now = timezone.now()
    due = Delivery.objects.filter(**DUE, webhook=OuterRef("pk"), next_at__lte=now)
    closed = Q(paused_until__gt=now) | Q(busy_until__gt=now)
    return list(Webhook.objects.filter(Exists(due), stopped_at=None).exclude(closed).values_list("pk", "url"))


def send_to(hook_id: int, is_over: Callable[[], bool] = bool) -> None:
    """Attempt the due deliveries of a webhook one after the other, until one fails or `is_over()`."""
    due = Delivery.objects.filter(**DUE, webhook=hook_id, next_at__lte=timezone.now()).order_by("next_at", "pk")
    for delivery in due.select_related("webhook__project")[:MAX_PER_TURN]:
        if is_over():
            return
        now = timezone.now()
        free = Webhook.objects.filter(Q(busy_until=None) | Q(busy_until__lte=now), pk=hook_id)
        if not free.update(busy_until=now + CLAIM_TIMEOUT):
            return
        accepted = True
        try:
            accepted = deliver(delivery, now)
        finally:
            _note(hook_id, accepted)
        if not accepted:
            return


def _note(hook_id: int, accepted: bool) -> None:
    """Store the end of an attempt. A webhook that fails is paused, and stopped after a long time."""
    now, rows = timezone.now(), Webhook.objects.filter(pk=hook_id)
    if accepted:
        rows.update(busy_until=None, failures=0, failing_since=None, paused_until=None)
        return
    rows.filter(failing_since=None).update(failing_since=now)
    rows.update(busy_until=None, failures=F("failures") + 1)
    for failures in rows.values_list("failures", flat=True):
        rows.update(paused_until=now + with_jitter(min(FIRST_PAUSE * 2 ** min(failures - 1, 20), MAX_PAUSE)))
    hopeless = rows.filter(failures__gte=MAX_FAILURES, failing_since__lte=now - MAX_FAILING, stopped_at=None)
    hopeless.update(stopped_at=now)
