"""Webhook deliveries of a project: an outbox, and attempts.

The audit trail fires the events (foilworks.core.projects.audit_trail.recording).
"""

import http.client
import random
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import AuditEvent, Delivery, Webhook
from foilworks.core.projects.webhooks.event_type import event_types
from foilworks.core.projects.webhooks.messages import message
from foilworks.core.projects.webhooks.outbound_addresses import Target, checked_target

# Delays after the first, second … failure, as Standard Webhooks recommends; then the delivery has failed.
RETRY_DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
# The status of a receiver that wants no more messages: the webhook stops at once.
GONE = 410
# An attempt takes less; where nothing came of it after this long, its worker is gone and another is due.
CLAIM_TIMEOUT = timedelta(minutes=1)
# Of each step; and of an attempt from the connection on, however slowly the answer drips.
TIMEOUT_SECONDS, ATTEMPT_SECONDS = 10.0, 30.0
MAX_PROBLEM_LENGTH = 300
# Spreads attempts; no secret depends on it.
_JITTER = random.Random()  # nosec B311


def write_delivery(hook: Webhook, slug: str, event: AuditEvent) -> None:
    """Store the delivery of an event, which a sender attempts soon (`sender`); part of the transaction."""
    payload = {
        "event": slug,
        "project": hook.project.slug,
        "target": {"type": event.target_type.rpartition(".")[2], "id": event.target_id},
        "from": event.from_state,
        "to": event.to_state,
        "details": {name: event.details[name] for name in event_types()[slug].payload if name in event.details},
        "at": timezone.now().isoformat(),
    }
    Delivery.objects.create(webhook=hook, event=slug, payload=payload, next_at=timezone.now())


def deliver(delivery: Delivery, now: datetime) -> bool:
    """Attempt one delivery and store the result and the next attempt. Return whether the receiver accepted it.

    Does nothing if none is due.
    """
    hook = delivery.webhook
    due = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING, next_at__lte=now)
    # Of two senders of one delivery, the second finds it no longer due.
    if hook.stopped_at or not due.update(next_at=now + CLAIM_TIMEOUT):
        return True
    status, problem = post(hook.url, *message(delivery, now))
    delivery.attempts += 1
    delivery.answer_status, delivery.problem = status, problem[:MAX_PROBLEM_LENGTH]
    if not problem:
        delivery.state = Delivery.State.DELIVERED
    elif status == GONE or delivery.attempts > len(RETRY_DELAYS):
        delivery.state = Delivery.State.FAILED
    else:
        delivery.next_at = now + with_jitter(RETRY_DELAYS[delivery.attempts - 1])
    delivery.save()
    if status == GONE:
        _stop(hook, now)
    return not problem


def with_jitter(delay: timedelta) -> timedelta:
    """Return the delay or up to a fifth more, so that deliveries that failed together do not return together."""
    return delay * _JITTER.uniform(1.0, 1.2)


def _stop(hook: Webhook, now: datetime) -> None:
    Webhook.objects.filter(pk=hook.pk, stopped_at=None).update(stopped_at=now)


def post(url: str, headers: dict[str, str], body: bytes) -> tuple[int | None, str]:
    """(status, what is wrong with the answer); only 2xx is right, and no redirect is followed."""
    try:
        target = checked_target(url)
        connection = _connection(target)
        try:
            with _deadline(connection):
                status = _ask(connection, target, headers, body)
        finally:
            connection.close()
    except ProjectError as error:
        return None, str(error)
    except (OSError, http.client.HTTPException) as error:
        return None, str(error) or type(error).__name__
    if 300 <= status < 400:
        return status, str(
            _("The URL answers with a redirect, which webhooks do not follow. Enter the URL that it redirects to.")
        )
    return status, "" if 200 <= status < 300 else f"The URL answered with status {status}."


def _connection(target: Target) -> http.client.HTTPConnection:
    """A connection to the address that was checked; the name is for TLS and the Host header alone. TLS begins later."""
    connection = http.client.HTTPConnection(target.host, target.port, timeout=TIMEOUT_SECONDS)
    pinned = socket.create_connection((target.ip, target.port), timeout=TIMEOUT_SECONDS)
    if target.scheme == "https":
        context = ssl.create_default_context()
        pinned = context.wrap_socket(pinned, server_hostname=target.host, do_handshake_on_connect=False)
    connection.sock = pinned
    return connection


def _ask(connection: http.client.HTTPConnection, target: Target, headers: dict[str, str], body: bytes) -> int:
    if isinstance(connection.sock, ssl.SSLSocket):
        connection.sock.do_handshake()
    connection.request("POST", target.path, body, headers)
    return connection.getresponse().status


@contextmanager
def _deadline(connection: http.client.HTTPConnection) -> Iterator[None]:
    """After ATTEMPT_SECONDS the connection is cut, which ends whatever waits on it; TimeoutError then."""
    over, pinned = threading.Event(), connection.sock

    def cut() -> None:
        over.set()
        with suppress(OSError):
            # The socket alone: TLS has a goodbye of its own, and the other thread may be in the middle of a read.
            socket.socket.shutdown(pinned, socket.SHUT_RDWR)

    timer = threading.Timer(ATTEMPT_SECONDS, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException):
        if not over.is_set():
            raise
    finally:
        timer.cancel()
        # Before the connection is closed: its number may be another one's then.
        timer.join()
    # Headers that are cut off look like an answer, too.
    if over.is_set():
        raise TimeoutError(f"The URL took longer than {ATTEMPT_SECONDS:.0f} seconds to answer.")
