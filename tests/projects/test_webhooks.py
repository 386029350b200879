"""Webhooks: who may be told, what is sent and how it is signed, another try later, and no way into our own network."""

import base64
import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as StandardReceiver

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.client import is_signed
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.queue import enqueue
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.actions.webhooks import (
    add_webhook,
    ping_webhook,
    remove_webhook,
    restart_webhook,
    rotate_webhook,
)
from foilworks.core.projects.audit_trail.sentences import phrase
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import Delivery, Role, Webhook
from foilworks.core.projects.webhooks import events
from foilworks.core.projects.webhooks.event_type import event_types
from foilworks.core.projects.webhooks.events import RETRY_DELAYS, deliver
from foilworks.core.projects.webhooks.messages import message_id, secret_of, signature
from foilworks.core.projects.webhooks.outbound_addresses import checked_target
from foilworks.core.projects.webhooks.sender import MAX_FAILING, MAX_FAILURES, due_webhooks, send_to
from tests.attacks.receivers import dripping
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db


class Receiver(HTTPServer):
    """Somebody's server: what came, and what it answers next."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.came: list[tuple[dict[str, str], bytes]] = []
        self.status, self.location = 200, ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.came.append((dict(self.headers), body))
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    """In a network that the operator allows."""
    settings.WEBHOOK_NETWORKS = ("127.0.0.0/8",)
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def owner(project):
    return make_member(project, Role.RESEARCHER)


def deliver_all() -> None:
    for key, _url in due_webhooks():
        send_to(key)


def test_a_frozen_release_is_delivered_and_signed(receiver, project, owner):
    hook = add_webhook(owner, project, receiver.url, ["release.frozen"])
    make_item(make_subtest(project), state=ItemState.VALID)
    release = freeze_release(owner, project, name="first")
    deliver_all()
    ((headers, body),) = receiver.came
    told = json.loads(body)
    assert (set(told), told["type"]) == ({"type", "timestamp", "data"}, "release.frozen")
    assert (told["data"]["project"], told["data"]["target"]["id"]) == (project.slug, str(release.pk))
    assert told["data"]["details"]["content_hash"] == release.content_hash
    assert owner.username not in body.decode()
    secret = secret_of(hook)
    assert is_signed(secret, headers, body)
    assert not is_signed(secret, headers, body + b" ")
    assert not is_signed("another", headers, body)
    assert not is_signed(secret, headers, body, now=timezone.now().timestamp() + 3600)
    assert StandardReceiver(secret).verify(body, headers) == told
    assert not any(name.startswith("X-Foilworks") for name in headers)
    assert Delivery.objects.get().state == Delivery.State.DELIVERED


def test_signatures_are_those_of_the_published_library():
    """The secret and the message of its own tests, and a text beyond ASCII."""
    secret, number = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    moment = datetime(2021, 2, 25, 14, 48, 50, tzinfo=UTC)
    for body in ('{"test": 2432232314}', '{"é": "日本"}', ""):
        ours = signature(base64.b64decode(secret), number, str(int(moment.timestamp())), body.encode())
        assert ours == StandardReceiver(f"whsec_{secret}").sign(number, moment, body)


def test_a_rotated_secret_and_the_old_one_are_valid_for_a_day(receiver, project, owner):
    hook = add_webhook(owner, project, receiver.url, ["ping"])
    old = secret_of(hook)
    new = secret_of(rotate_webhook(owner, project, hook.pk))
    ping_webhook(owner, project, hook.pk)
    deliver_all()
    Webhook.objects.update(old_salt_until=timezone.now())
    ping_webhook(owner, project, hook.pk)
    deliver_all()
    third = secret_of(rotate_webhook(owner, project, hook.pk, revoke=True))
    ping_webhook(owner, project, hook.pk)
    deliver_all()
    valid = [[is_signed(secret, *message) for secret in (old, new, third)] for message in receiver.came]
    assert valid == [[True, True, False], [False, True, False], [False, False, True]]
    headers, body = receiver.came[0]
    for secret in (old, new):
        assert StandardReceiver(secret).verify(body, headers)["type"] == "ping"


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64", "whsec_é", "zz", "ab" * 32])
def test_a_secret_that_is_none_verifies_nothing(secret):
    unkeyed = signature(b"", "msg_1", "1", b"")
    sent = {"webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": unkeyed}
    for headers in (sent, {**sent, "webhook-signature": ""}, {}):
        assert not is_signed(secret, headers, b"", now=1.0)


def test_a_receiver_that_is_gone_stops_its_webhook(receiver, project, owner):
    receiver.status = 410
    ping_webhook(owner, project, add_webhook(owner, project, receiver.url, ["ping"]).pk)
    deliver_all()
    assert (Delivery.objects.get().state, Webhook.objects.get().stopped_at is None) == ("failed", False)


def test_only_requested_events_are_delivered(receiver, project, owner):
    add_webhook(owner, project, receiver.url, ["import.stored"])
    make_item(make_subtest(project), state=ItemState.VALID)
    freeze_release(owner, project)
    assert not Delivery.objects.exists()
    other = make_project()
    make_item(make_subtest(other), state=ItemState.VALID)
    add_webhook(owner, project, receiver.url + "/2", ["release.frozen"])
    freeze_release(make_member(other, Role.RESEARCHER), other)
    assert not Delivery.objects.exists()


def test_a_failed_delivery_is_tried_again_until_it_has_failed_for_good(receiver, project, owner):
    receiver.status = 503
    ping_webhook(owner, project, add_webhook(owner, project, receiver.url, ["release.frozen"]).pk)
    for attempt, wait in enumerate(RETRY_DELAYS, start=1):
        before = timezone.now()
        deliver_all()
        delivery = Delivery.objects.get()
        assert (delivery.state, delivery.attempts, delivery.answer_status) == ("waiting", attempt, 503)
        assert before <= delivery.next_at - wait <= timezone.now() + wait / 5
        assert Webhook.objects.get().failures == attempt
        Delivery.objects.update(next_at=timezone.now())
        # Due, but the webhook is paused.
        assert due_webhooks() == []
        Webhook.objects.update(paused_until=timezone.now())
        assert len(due_webhooks()) == 1
    deliver_all()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == ("failed", len(RETRY_DELAYS) + 1)
    assert len(receiver.came) == len(RETRY_DELAYS) + 1
    assert {headers["webhook-id"] for headers, _body in receiver.came} == {message_id(delivery)}


def test_a_webhook_that_is_being_sent_to_gets_nothing_else(receiver, project, owner):
    hook = add_webhook(owner, project, receiver.url, ["ping"])
    for _ in range(3):
        ping_webhook(owner, project, hook.pk)
    Webhook.objects.update(busy_until=timezone.now() + timedelta(seconds=30))
    assert due_webhooks() == []
    send_to(hook.pk)
    assert receiver.came == []
    # Its process died: the attempt is over when its time is.
    Webhook.objects.update(busy_until=timezone.now() - timedelta(seconds=1))
    deliver_all()
    assert len(receiver.came) == 3
    assert Webhook.objects.get().busy_until is None


def test_a_process_that_is_stopped_ends_after_the_attempt_that_is_open(receiver, project, owner):
    hook = add_webhook(owner, project, receiver.url, ["ping"])
    for _ in range(3):
        ping_webhook(owner, project, hook.pk)
    send_to(hook.pk, is_over=lambda: bool(receiver.came))
    assert len(receiver.came) == 1
    assert Delivery.objects.filter(state=Delivery.State.WAITING, attempts=0).count() == 2
    assert Webhook.objects.get().busy_until is None
    deliver_all()
    assert len(receiver.came) == 3


def test_jobs_that_0_3_queued_for_a_delivery_leave_it_to_the_sender(receiver, project, owner):
    ping_webhook(owner, project, add_webhook(owner, project, receiver.url, ["ping"]).pk)
    assert run_now(enqueue("projects.deliver_webhook", Delivery.objects.get().pk)).state == "done"
    assert receiver.came == []
    deliver_all()
    assert len(receiver.came) == 1


def test_two_workers_make_one_attempt(receiver, project, owner):
    receiver.status = 503
    ping_webhook(owner, project, add_webhook(owner, project, receiver.url, ["ping"]).pk)
    for read in [Delivery.objects.select_related("webhook").get() for _worker in range(2)]:
        deliver(read, timezone.now())
    assert (len(receiver.came), Delivery.objects.get().attempts) == (1, 1)


def test_a_receiver_that_never_answers_is_paused_and_after_a_day_stopped(monkeypatch, project, owner, settings):
    """A port that accepts connections and says nothing; 100 deliveries wait for it."""
    settings.WEBHOOK_NETWORKS = ("127.0.0.0/8",)
    monkeypatch.setattr(events, "TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        hook = add_webhook(owner, project, f"http://127.0.0.1:{silent.getsockname()[1]}/", ["ping"])
        for _ in range(100):
            ping_webhook(owner, project, hook.pk)
        pauses = []
        for attempt in range(1, MAX_FAILURES + 1):
            before = timezone.now()
            deliver_all()
            row = Webhook.objects.get()
            # One attempt per turn, whichever delivery it is of.
            assert (row.failures, Delivery.objects.filter(attempts__gt=0).count()) == (attempt, attempt)
            pauses.append((row.paused_until - before).total_seconds())
            Webhook.objects.update(paused_until=None)
        assert pauses == sorted(pauses)
        assert pauses[0] >= 5
        assert pauses[-1] >= 1280
        assert row.stopped_at is None
        Webhook.objects.update(failing_since=timezone.now() - MAX_FAILING)
        deliver_all()
    assert Webhook.objects.get().stopped_at is not None
    assert due_webhooks() == []
    restart_webhook(owner, project, hook.pk)
    assert (Webhook.objects.get().failures, len(due_webhooks())) == (0, 1)


def test_a_redirect_is_not_followed(receiver, project, owner):
    receiver.status, receiver.location = 302, "http://169.254.169.254/latest/meta-data/"
    ping_webhook(owner, project, add_webhook(owner, project, receiver.url, ["ping"]).pk)
    deliver_all()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.answer_status) == ("waiting", 302)
    assert "redirect" in delivery.problem
    assert len(receiver.came) == 1


@pytest.mark.parametrize(
    ("scheme", "first"),
    [("http", b"HTTP/1.1 2"), ("http", b"HTTP/1.1 200 OK\r\n"), ("https", b"\x16\x03\x03\x3f\xff\x02")],
    ids=["status", "headers", "TLS"],
)
def test_an_answer_that_drips_is_a_failed_attempt(scheme, first, monkeypatch, settings, project, owner):
    """Each of its letters comes in time."""
    settings.WEBHOOK_NETWORKS = ("127.0.0.0/8",)
    monkeypatch.setattr("foilworks.core.projects.webhooks.events.ATTEMPT_SECONDS", 0.3)
    with dripping(first, for_s=30) as port:
        ping_webhook(owner, project, add_webhook(owner, project, f"{scheme}://127.0.0.1:{port}/", ["ping"]).pk)
        deliver_all()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.answer_status) == ("waiting", 1, None)
    assert "The URL took longer than" in delivery.problem


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.1.2.3/",
        "https://192.168.0.9/",
        "https://172.16.0.1/",
        "https://169.254.169.254/latest/",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[fe80::1]/",
        "https://[fd00::1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[2002:7f00:1::]/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://100.64.0.1/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "http://93.184.216.34/",
        "https://user@93.184.216.34/",
        "ftp://93.184.216.34/",
        "file:///etc/passwd",
        "https://",
        "https://93.184.216.34/#x",
        "https://exa mple.org/",
        "https://93.184.216.34:99999/",
        "https://93.184.216.34/\r\nX: y",
        "//93.184.216.34/",
        "",
        "https://é.example/",
    ],
)
def test_a_private_address_in_any_dress_is_refused(url, project, owner):
    with pytest.raises(ProjectError):
        add_webhook(owner, project, url, ["release.frozen"])
    assert not Webhook.objects.exists()


def test_a_name_with_one_private_address_is_refused(monkeypatch, project, owner):
    """Names that nobody can register stand for a resolver that answers with what an attacker chose."""
    answers = {"mixed.example": ["93.184.216.34", "10.0.0.1"], "inner.example": ["10.0.0.1"]}
    resolve(monkeypatch, answers)
    for name in answers:
        with pytest.raises(ProjectError, match="private"):
            add_webhook(owner, project, f"https://{name}/hook", ["release.frozen"])


def test_a_name_that_turns_private_later_gets_nothing(receiver, monkeypatch, settings, project, owner):
    answers = {"turning.example": ["93.184.216.34"]}
    resolve(monkeypatch, answers)
    hook = add_webhook(owner, project, f"https://turning.example:{receiver.server_port}/", ["ping"])
    settings.WEBHOOK_NETWORKS = ()
    answers["turning.example"] = ["127.0.0.1"]
    ping_webhook(owner, project, hook.pk)
    deliver_all()
    assert receiver.came == []
    assert "private" in Delivery.objects.get().problem


def test_the_connection_goes_to_the_address_that_was_checked(receiver, monkeypatch):
    """One look at the name: a second one could be answered otherwise."""
    looked = resolve(monkeypatch, {"once.example": ["127.0.0.1"]})
    target = checked_target(f"http://once.example:{receiver.server_port}/hook?a=b")
    assert (target.ip, target.host, target.path) == ("127.0.0.1", "once.example", "/hook?a=b")
    assert looked == ["once.example"]


def resolve(monkeypatch, answers: dict[str, list[str]]) -> list[str]:
    """These names have these addresses; the names that were looked up."""
    looked: list[str] = []
    real = socket.getaddrinfo

    def lookup(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        if host not in answers:
            return real(host, port, *args, **kwargs)
        looked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in answers[host]]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return looked


def test_only_researchers_name_addresses(receiver, project):
    with pytest.raises(AccessDenied):
        add_webhook(make_member(project, Role.ANNOTATOR), project, receiver.url, ["ping"])


def test_waiting_deliveries_are_deleted_with_their_webhook(receiver, project, owner):
    hook = add_webhook(owner, project, receiver.url, ["ping"])
    ping_webhook(owner, project, hook.pk)
    remove_webhook(owner, project, hook.pk)
    deliver_all()
    assert receiver.came == []
    with pytest.raises(ProjectError):
        add_webhook(owner, project, receiver.url, ["no.event"])


def test_every_event_is_fired_by_an_action_or_a_state_and_by_no_other_event():
    rows = event_types().values()
    assert all(bool(event_type.action) != bool(event_type.target_type and event_type.to_states) for event_type in rows)
    actions = [event_type.action for event_type in rows if event_type.action]
    assert len(actions) == len(set(actions))
    assert all(phrase(action) for action in actions)
