"""An OpenAI-compatible endpoint, on a real server that behaves well and badly."""

import base64
import io
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Barrier

import pytest
from PIL import Image

from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, RetryPolicy
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Chat, ChatRequest
from foilworks.core.hub.served.budget import Budget
from foilworks.core.hub.served.wire import messages_of
from tests.hub.chat_server import Said, chat_server, content
from tests.waiting import PATIENCE_SECONDS

SCHEMA = {"type": "object"}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)


def ask(server, *texts, patience=None, budget=None, key="", **options):
    endpoint = Endpoint("lab", server.url, "tiny", key)
    chat = ChatEndpoint(endpoint, patience or RetryPolicy(timeout=20.0), budget)
    requests = [ChatRequest((("system", "be brief"), ("user", text)), **options) for text in texts]
    found = dict(pair for together in chat.replies(requests) for pair in together)
    assert sorted(found) == list(range(len(texts)))
    return [found[at] for at in range(len(texts))]


def test_an_endpoint_gets_openai_requests_and_returns_text_and_cost():
    with chat_server(lambda body, n: content("yes", tokens=(20, 5))) as server:
        (reply,) = ask(server, "well?", schema=SCHEMA, seed=7, max_tokens=9, key="secret")
    (body,) = server.bodies
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["Authorization"] == "Bearer secret"
    assert body["messages"] == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "well?"}]
    assert (body["model"], body["seed"], body["max_tokens"], body["temperature"]) == ("tiny", 7, 9, 0.0)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (reply.text, reply.failure, reply.requests, reply.revision) == ("yes", "", 1, "tiny-2026-01-01")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cut) == (20, 5, False)


def test_the_key_is_in_no_representation_and_no_error():
    assert "secret" not in repr(Endpoint("lab", "http://x", "m", "secret"))
    refused = Said({"error": {"message": "Incorrect API key provided: secret."}}, 401)
    wanted = pytest.raises(HubError, match=r"endpoint lab: it refuses the key .*correct CHAT_LAB_KEY")
    with chat_server(lambda body, n: refused) as server, wanted as error:
        ask(server, "x", key="secret")
    assert "secret" not in str(error.value)
    with (
        chat_server(lambda body, n: refused) as server,
        pytest.raises(HubError, match=r"requires a key .*set CHAT_LAB_KEY"),
    ):
        ask(server, "x", key="")


@pytest.mark.parametrize(
    ("said", "why", "requests"),
    [
        (Said("busy", 429, {"Retry-After": "0"}), "429 after 3 tries", 3),
        (Said("broken", 500), "500 after 3 tries", 3),
        (Said("<html>gateway</html>"), "not JSON after 3 tries", 3),
        (Said({"choices": []}), "not JSON after 3 tries", 3),
        (Said({"error": "too many words"}, 413), "413: too many words", 1),
        (Said({"choices": [{"message": {"content": None, "refusal": "I will\nnot."}}]}), "refused: I will not.", 1),
        (Said({"choices": [{"message": {"content": " "}}]}), "empty answer", 1),
        (Said("busy", 429, {"Retry-After": "3600"}), "429, wait 3600 s", 1),
        (Said(b"x" * 5_000_000), "the answer is too long", 1),
    ],
)
def test_the_failure_says_why_there_is_no_answer(said, why, requests):
    with chat_server(lambda body, n: said) as server:
        (reply,) = ask(server, "x")
    assert (reply.text, reply.failure, reply.requests) == ("", why, requests)
    assert len(server.bodies) == requests


def test_a_silent_server_times_out():
    with chat_server(lambda body, n: Said("late", wait=0.5)) as server:
        (reply,) = ask(server, "x", patience=RetryPolicy(tries=2, timeout=0.1))
    assert (reply.failure, reply.requests) == ("timed out after 2 tries", 2)


def test_the_error_says_that_a_server_is_unreachable():
    class Nowhere:
        url = "http://127.0.0.1:9/v1"

    (reply,) = ask(Nowhere, "x", patience=RetryPolicy(tries=2))
    assert reply.failure == "no connection (ConnectError) after 2 tries"


def test_each_further_try_is_announced_once_for_all_requests_without_the_name_and_password_of_the_address(caplog):
    """In the thread that waits, which may write to the database; at last an empty sentence."""
    said, threads = [], set()

    def notice(sentence):
        said.append(sentence)
        threads.add(threading.get_ident())

    endpoint = Endpoint("lab", "http://me:secret@127.0.0.1:9/v1", "tiny")
    chat = ChatEndpoint(endpoint, RetryPolicy(tries=3), notice=notice)
    requests = [ChatRequest((("user", text),)) for text in "ab"]
    assert len([reply for together in chat.replies(requests) for reply in together]) == 2
    first, second = (
        f"endpoint lab: could not reach http://127.0.0.1:9/v1 (ConnectError), trying again ({n} of 3)" for n in (2, 3)
    )
    assert said == [first, second, *[""] * (len(said) - 2)]
    assert len(said) > 2
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [first, second]
    assert threads == {threading.get_ident()}


def test_a_server_that_only_wants_a_slower_pace_is_not_announced(caplog):
    said = []
    with chat_server(lambda body, n: content("yes") if n > 1 else Said("busy", 429, {"Retry-After": "0"})) as server:
        chat = ChatEndpoint(Endpoint("lab", server.url, "tiny"), RetryPolicy(), notice=said.append)
        (((_, reply),),) = chat.replies([ChatRequest((("user", "x"),))])
    assert (reply.text, said) == ("yes", [])


def test_temporary_errors_are_retried_after_the_pause_that_the_server_requests():
    def answer(body, n):
        until = format_datetime(datetime.now(UTC) + timedelta(seconds=1.5), usegmt=True)
        return Said("busy", 429, {"Retry-After": "0" if n == 1 else until}) if n <= 2 else content("at last")

    with chat_server(answer) as server:
        start = time.monotonic()
        (reply,) = ask(server, "x")
    assert (reply.text, reply.requests) == ("at last", 3)
    assert time.monotonic() - start > 0.2


def test_a_redirect_is_not_followed():
    wanted = pytest.raises(HubError, match=r"it redirects \(307\), which is not followed")
    with chat_server(lambda body, n: content("inner secret")) as inner:
        away = Said("", 307, {"Location": f"{inner.url}/chat/completions"})
        with chat_server(lambda body, n: away) as server, wanted:
            ask(server, "x", key="secret")
    assert not inner.bodies


def test_an_unknown_model_ends_the_run_with_what_to_correct():
    wanted = pytest.raises(HubError, match=r"404: no model tiny\); correct CHAT_LAB_URL and CHAT_LAB_MODELS")
    with chat_server(lambda body, n: Said({"error": {"message": "no model tiny"}}, 404)) as server, wanted:
        ask(server, *"abcdefgh")
    assert len(server.bodies) <= 8


def test_a_server_without_structured_output_gets_no_schema_from_then_on():
    def answer(body, n):
        if "response_format" in body:
            return Said({"error": {"message": "response_format is not supported"}}, 400)
        return Said({"error": "temperature: must be 1"}, 422) if "temperature" in body else content("plain")

    with chat_server(answer) as server:
        replies = ask(server, "a", "b", "c", schema=SCHEMA, patience=RetryPolicy(concurrency=1))
    assert [reply.text for reply in replies] == ["plain"] * 3
    assert [reply.requests for reply in replies] == [3, 1, 1]


def test_a_server_gets_max_completion_tokens_if_it_requires_that():
    def answer(body, n):
        wrong = {"error": {"message": "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'"}}
        return Said(wrong, 400) if "max_tokens" in body else content(str(body["max_completion_tokens"]))

    with chat_server(answer) as server:
        assert ask(server, "a", max_tokens=33)[0].text == "33"


def test_requests_in_flight_stay_within_the_limit():
    three = Barrier(3)

    def answer(body, n):
        three.wait(PATIENCE_SECONDS)
        return Said(content("x").body, wait=0.02)

    with chat_server(answer) as server:
        ask(server, *map(str, range(12)), patience=RetryPolicy(concurrency=3))
    assert server.most_at_once == 3


def test_requests_beyond_the_budget_are_never_sent():
    with chat_server(lambda body, n: content("x")) as server:
        replies = ask(server, *map(str, range(9)), budget=Budget(requests=5, spent_requests=2))
    assert [reply.failure for reply in replies].count("budget spent") == 6
    assert len(server.bodies) == 3


def test_tokens_are_reserved_before_a_request_and_counted_after_it():
    """9 characters are 3 tokens at most, 97 for the answer: 100 reserved, 25 used. 225 let six through one by one:
    after five 125 are used and 100 are left; after six 150 and 75 are left, less than one may need."""
    with chat_server(lambda body, n: content("x", tokens=(20, 5))) as server:
        replies = ask(
            server, *"abcdefgh", budget=Budget(tokens=225), patience=RetryPolicy(concurrency=1), max_tokens=97
        )
    assert len(server.bodies) == 6
    assert [reply.failure for reply in replies[6:]] == ["budget spent"] * 2


def test_concurrent_requests_stay_within_the_budget():
    # All eight have asked for their share of the budget before the first answer gives some of it back.
    with chat_server(lambda body, n: Said(content("x").body, wait=1.0)) as server:
        ask(server, *"abcdefgh", budget=Budget(tokens=225), patience=RetryPolicy(concurrency=8), max_tokens=97)
    assert len(server.bodies) == 2


def test_an_unavailable_endpoint_gets_no_more_requests():
    with chat_server(lambda body, n: Said("broken", 500)) as server:
        replies = ask(server, *map(str, range(40)), patience=RetryPolicy(tries=1, concurrency=2))
    assert len(server.bodies) <= chat_endpoint.MAX_CONSECUTIVE_FAILURES + 2
    assert replies[-1].failure == "not asked: the endpoint had failed too often"


def test_an_answer_that_reached_max_tokens_is_marked_as_cut():
    with chat_server(lambda body, n: content("half of", reason="length")) as server:
        assert ask(server, "x")[0].cut


def test_an_endpoint_is_a_chat():
    assert isinstance(ChatEndpoint(Endpoint("lab", "http://x", "m"), RetryPolicy()), Chat)


def test_answers_in_parts_and_with_unstorable_characters_are_read():
    parts = [{"type": "text", "text": "a\ud83d b\x00"}, {"type": "text", "text": "\nc"}]
    answer = {"choices": [{"message": {"content": parts}}], "model": "m\x00"}
    with chat_server(lambda body, n: Said(answer)) as server:
        (reply,) = ask(server, "x")
    assert (reply.text, reply.revision) == ("a? b\nc", "m")


def test_tokens_are_estimated_for_a_server_that_does_not_count():
    """9 characters in two messages are 3 tokens; 4 of the answer one and the started one."""
    with chat_server(lambda body, n: Said({"choices": [{"message": {"content": "yes!"}}]})) as server:
        (reply,) = ask(server, "x")
    assert (reply.prompt_tokens, reply.completion_tokens) == (3, 2)


def test_every_picture_is_labelled_with_its_own_format():
    files = []
    for form in ("jpeg", "png"):
        out = io.BytesIO()
        Image.new("RGB", (4, 4), "red").save(out, form)
        files.append(out.getvalue())
    request = ChatRequest((("user", "what is it?"),), images=tuple(files))
    *pictures, text = messages_of(request)[0]["content"]
    assert [part["image_url"]["url"].partition(";")[0] for part in pictures] == ["data:image/jpeg", "data:image/png"]
    assert [base64.b64decode(part["image_url"]["url"].partition(",")[2]) for part in pictures] == files
    assert text == {"type": "text", "text": "what is it?"}


def test_tokens_of_a_try_that_timed_out_are_counted_when_the_next_one_is_refused():
    refusal = Said({"error": {"code": "content_filter", "message": "no"}}, 400)
    with chat_server(lambda body, n: refusal if n > 1 else Said("late", wait=1.0)) as server:
        (reply,) = ask(server, "x", patience=RetryPolicy(tries=2, timeout=0.5))
    assert (reply.requests, reply.refusal) == (2, "content_filter: no")
    assert reply.prompt_tokens > 0
