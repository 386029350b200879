"""Send what is due in the outboxes: webhook deliveries and mails of notifications.

One thread looks for due rows, others wait for the receivers. So no receiver, however slow, keeps a worker from its
jobs.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import TracebackType
from urllib.parse import urlsplit

from django.db import Error, connections
from django.utils import timezone

from foilworks.core.projects.notifications import mail
from foilworks.core.projects.webhooks.sender import due_webhooks, send_to

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
# Open attempts of this process, in all and to one host.
MAX_OPEN, MAX_OPEN_PER_HOST = 32, 4
# At the end, open attempts have so long: less than Compose and systemd wait before they kill.
CLOSE_SECONDS = 10.0
MAIL = "mail"


class Sender:
    """A thread that sends what is due while the block runs."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._open: dict[str, threading.Thread] = {}
        self._thread = threading.Thread(target=self._send, name="sender", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _send(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self._open = {name: thread for name, thread in self._open.items() if thread.is_alive()}
            try:
                hosts = Counter(urlsplit(url).netloc for url in self._open)
                for key, url in due_webhooks():
                    if hosts[urlsplit(url).netloc] < MAX_OPEN_PER_HOST:
                        hosts[urlsplit(url).netloc] += self._start(url, send_to, key)
                if mail.is_ready() and mail.due(timezone.now()):
                    self._start(MAIL, mail.send_due)
            except Error as error:
                logger.warning("cannot look for messages that are due: %s", error)
            finally:
                connections.close_all()
        # Attempts that are open for longer end with the process; what they do not store is due again later.
        ends = time.monotonic() + CLOSE_SECONDS
        for thread in self._open.values():
            thread.join(max(0.0, ends - time.monotonic()))

    def _start(self, name: str, send: Callable[..., object], *arguments: object) -> bool:
        """Begin to send, unless something of this name is open or too much is; return whether it began."""
        begins = name not in self._open and len(self._open) < MAX_OPEN
        if begins:
            send_until_over = partial(send, *arguments, is_over=self._over.is_set)
            self._open[name] = threading.Thread(target=_in_thread, args=[send_until_over], name="sending", daemon=True)
            self._open[name].start()
        return begins


def _in_thread(send: Callable[[], object]) -> None:
    try:
        send()
    except Error as error:
        logger.warning("cannot store what was sent: %s", error)
    finally:
        connections.close_all()
