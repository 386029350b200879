"""The number of requests in flight: the rule by itself, and a client's threads held to it by a real server."""

import threading
from types import SimpleNamespace

import pytest

from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, RetryPolicy
from foilworks.core.hub.interfaces import ChatRequest
from foilworks.core.hub.served.pace import FIRST, Gate, Pace
from tests.hub.chat_server import Said, chat_server, content
from tests.waiting import PATIENCE_SECONDS, wait_until


def rounds(pace: Pace, n: int, seconds: float = 0.5) -> None:
    """n round trips with as many requests in flight as the pace allows, all answered."""
    for _ in range(n):
        in_flight = int(pace.limit)
        for ticket in [pace.sent() for _ in range(in_flight)]:
            pace.answered(ticket, seconds, in_flight)


def test_the_limit_doubles_per_round_trip_up_to_the_max():
    pace = Pace(64)
    seen = []
    for _ in range(4):
        seen.append(int(pace.limit))
        rounds(pace, 1)
    assert seen == [8, 16, 32, 64]
    rounds(pace, 3)
    assert pace.limit == 64


def test_a_refusal_halves_the_limit_once_then_it_grows_by_one_per_round_trip():
    pace = Pace(64)
    rounds(pace, 3)
    tickets = [pace.sent() for _ in range(64)]
    # All 64 come back refused: they were sent together, so they say one thing.
    for ticket in tickets:
        pace.refused(ticket)
    assert pace.limit == 32
    rounds(pace, 5)
    assert 36 <= pace.limit <= 38
    pace.refused(pace.sent())
    pace.refused(pace.sent())
    assert 9 <= pace.limit <= 10


def test_the_limit_never_falls_below_one():
    pace = Pace(4)
    for _ in range(20):
        pace.refused(pace.sent())
    assert pace.limit == 1


def test_queued_answers_lower_the_limit_and_batched_ones_do_not():
    queues, batches = Pace(256), Pace(256)
    for _ in range(40):
        # One answers 16 at a time, whatever waits; the other takes a little longer for more at once.
        rounds(queues, 1, 0.1 * max(1.0, int(queues.limit) / 16))
        rounds(batches, 1, 0.1 + 0.001 * int(batches.limit))
    assert max(queues.course) > queues.limit
    assert queues.limit < 160
    assert batches.limit == 256


def test_an_unused_limit_does_not_grow():
    pace = Pace(64)
    for _ in range(50):
        pace.answered(pace.sent(), 0.5, 1)
    assert pace.limit == FIRST


def test_a_stopped_gate_admits_no_requests():
    gate = Gate(1)
    assert gate.enter() is not None
    waiting = threading.Thread(target=gate.enter)
    waiting.start()
    gate.stop()
    waiting.join(PATIENCE_SECONDS)
    assert not waiting.is_alive()
    assert gate.enter() is None


def test_status_429_lowers_the_requests_in_flight_until_it_ends(monkeypatch):
    """The server takes 64 at a time, then refuses everything for a while, then takes what comes.

    It answers once three quarters of the limit are in flight: a limit that is not in use does not rise, and a busy
    machine sends slowly. Its answers take no time by the client's clock, or their times would lower the limit as well.
    """
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(chat_endpoint, "time", SimpleNamespace(monotonic=lambda: 0.0))
    refused: list[int] = []
    sent: list[str] = []
    lock = threading.Lock()

    def answer(body, n):
        with lock:
            if (refused or chat.gate.limit == 64) and len(refused) < 30:
                refused.append(n)
                return Said("busy", 429)
        wait_until(lambda: 4 * server.at_once >= 3 * chat.gate.limit or len(server.asked) == len(sent))
        return content("yes")

    def all_said_yes(count: int = 200) -> bool:
        texts = [str(number) for number in range(len(sent), len(sent) + count)]
        sent.extend(texts)
        replies = chat.replies([ChatRequest((("user", text),)) for text in texts])
        return [reply.text for together in replies for _, reply in together] == ["yes"] * count

    # More tries than refusals: no request can run out of them.
    chat = ChatEndpoint(Endpoint("lab", "", "tiny"), RetryPolicy(tries=31, timeout=PATIENCE_SECONDS, concurrency=64))
    course = chat.gate.pace.course
    with chat_server(answer) as server:
        chat._endpoint = Endpoint("lab", server.url, "tiny")
        wait_until(lambda: all_said_yes() and len(refused) == 30)
        low = min(course[course.index(64) :])
        wait_until(lambda: all_said_yes() and course[-1] > low)
    assert low <= 32
    # On the server's side, too: never more than the limit.
    assert server.most_at_once <= 64


def test_retry_after_pauses_all_requests(monkeypatch):
    """After the first refusal nothing is sent until the pause is over."""
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)
    times: list[float] = []
    lock = threading.Lock()

    def answer(body, n):
        with lock:
            times.append(chat_endpoint.time.monotonic())
            first = len(times) == 1
        return Said("busy", 429, {"Retry-After": "0.5"}) if first else content("yes")

    with chat_server(answer) as server:
        chat = ChatEndpoint(Endpoint("lab", server.url, "tiny"), RetryPolicy(concurrency=1))
        asked = [ChatRequest((("user", str(number)),)) for number in range(4)]
        replies = [reply for together in chat.replies(asked) for _, reply in together]
    assert [reply.text for reply in replies] == ["yes"] * 4
    assert times[1] - times[0] >= 0.5


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_hard_limit_reached"])
def test_an_empty_account_ends_all_requests(code):
    refused = Said({"error": {"code": code, "message": "You exceeded your current quota"}}, 429)
    with chat_server(lambda body, n: refused) as server:
        chat = ChatEndpoint(Endpoint("lab", server.url, "tiny"), RetryPolicy(tries=5))
        with pytest.raises(chat_endpoint.HubError, match=r"its account has no credit .* add credit, then continue"):
            list(chat.replies([ChatRequest((("user", "x"),))]))
    assert len(server.bodies) == 1
