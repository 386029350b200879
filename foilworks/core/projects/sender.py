"""Send what is due in the outboxes: webhook deliveries and mails of notifications.

One thread looks for due rows, others wait for the receivers. So no receiver, however slow, keeps a worker from its
jobs. Any number of hosts may send: each webhook has at most one open attempt. One that fails, also by a timeout, is
paused for longer and longer.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from types import TracebackType
from urllib.parse import urlsplit

from django.db import DatabaseError, connections
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from foilworks.core.projects.models import Delivery, Webhook
from foilworks.core.projects.notifications import mail
from foilworks.core.projects.webhooks.events import CLAIM_TIMEOUT, deliver, with_jitter

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
# Open attempts of this process, in all and to one host, and deliveries per turn of one webhook.
MAX_OPEN, MAX_OPEN_PER_HOST, MAX_PER_TURN = 32, 4, 50
MAIL = "mail"
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


def send_to(hook_id: int) -> None:
    """Attempt the due deliveries of a webhook one after the other, until one fails."""
    due = Delivery.objects.filter(**DUE, webhook=hook_id, next_at__lte=timezone.now()).order_by("next_at", "pk")
    for delivery in due.select_related("webhook__project")[:MAX_PER_TURN]:
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


class Sender:
    """A thread that sends what is due while the block runs."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._open: dict[str, Future[None]] = {}
        self._thread = threading.Thread(target=self._send, name="sender", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _send(self) -> None:
        pool = ThreadPoolExecutor(MAX_OPEN, thread_name_prefix="sender")
        while not self._over.wait(LOOK_SECONDS):
            self._open = {name: future for name, future in self._open.items() if not future.done()}
            try:
                hosts = Counter(urlsplit(url).netloc for url in self._open)
                for key, url in due_webhooks():
                    if hosts[urlsplit(url).netloc] < MAX_OPEN_PER_HOST:
                        hosts[urlsplit(url).netloc] += self._start(pool, url, send_to, key)
                if mail.is_ready() and mail.due(timezone.now()):
                    self._start(pool, MAIL, mail.send_due)
            except DatabaseError as error:
                logger.warning("cannot look for messages that are due: %s", error)
            finally:
                connections.close_all()
        # Open attempts end by their own timeouts; what they do not store is due again later.
        pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, pool: ThreadPoolExecutor, name: str, send: Callable[..., object], *arguments: object) -> bool:
        """Begin to send, unless something of this name is open or too much is; return whether it began."""
        begins = name not in self._open and len(self._open) < MAX_OPEN
        if begins:
            self._open[name] = pool.submit(_in_thread, send, *arguments)
        return begins


def _in_thread(send: Callable[..., object], *arguments: object) -> None:
    try:
        send(*arguments)
    except DatabaseError as error:
        logger.warning("cannot store what was sent: %s", error)
    finally:
        connections.close_all()
