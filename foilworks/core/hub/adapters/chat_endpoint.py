"""Query instruction models behind an OpenAI-compatible endpoint (`POST …/chat/completions`), over httpx. Imports no
torch.

The operator configures the addresses. Redirects are never followed, and no proxy or key is read from the environment.
`foilworks.core.hub.served.pace` adapts the number of requests in flight. Temporary errors (429, 5xx, a timeout) are
retried with growing pauses, or after the pause that the server requests. Permanent ones (a refused key, an unknown
model, an empty account) end the run with a message that says what to do.
"""

import logging
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import httpx

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import ChatReply, ChatRequest, ModelInfo, ScoreKind
from foilworks.core.hub.served import wire
from foilworks.core.hub.served.budget import SPENT, Budget
from foilworks.core.hub.served.pace import Gate
from foilworks.core.hub.served.wire import Failed

logger = logging.getLogger(__name__)
FIRST_PAUSE = 1.0
# Spreads retries; not security-relevant.
_JITTER = random.Random()
MAX_BYTES = 4 * 1024 * 1024
# After as many requests in a row without an answer, the endpoint counts as unavailable, and no more are sent.
MAX_CONSECUTIVE_FAILURES = 20
UNAVAILABLE = "not asked: the endpoint had failed too often"
NO_CONNECTION, TIMED_OUT = "no connection", "timed out"
MAX_LOGPROBS = 20
OVERLOADED = frozenset({429, 503, 529})
Tag = TypeVar("Tag")


@dataclass(frozen=True)
class Endpoint:
    """Address, model and key of an endpoint. `url` ends before `/chat/completions`; no log, error or row contains the
    key."""

    name: str
    url: str
    model: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait: `timeout` and `longest_pause` in seconds, `tries` per request in all, at most `concurrency`
    requests in flight."""

    tries: int = 3
    timeout: float = 60.0
    concurrency: int = 64
    longest_pause: float = 60.0


class Flight(Generic[Tag]):
    """Requests in flight. Call `send` while `has_room`, then `arrived`, which waits for the next answers."""

    def __init__(self, chat: "ChatEndpoint", client: httpx.Client, pool: ThreadPoolExecutor) -> None:
        self._chat, self._client, self._pool = chat, client, pool
        # Replies, and notices of tries that failed.
        self._done: SimpleQueue[tuple[Tag, Future[ChatReply]] | str] = SimpleQueue()
        self.pending = 0

    @property
    def has_room(self) -> bool:
        return self.pending < self._chat.gate.limit

    def send(self, tag: Tag, request: ChatRequest) -> None:
        self.pending += 1
        future = self._pool.submit(self._chat.reply, self._client, request, self._done.put)
        future.add_done_callback(lambda done: self._done.put((tag, done)))

    def arrived(self, timeout: float | None = None) -> list[tuple[Tag, ChatReply]]:
        """Wait for an answer, at most `timeout` seconds; return all that have arrived, with their tags. HubError: the
        endpoint can answer nothing."""
        replies: list[tuple[Tag, Future[ChatReply]]] = []
        with suppress(Empty):
            self._take(self._done.get(timeout=timeout), replies)
            while not replies and timeout is None:
                self._take(self._done.get(), replies)
            while True:
                self._take(self._done.get_nowait(), replies)
        self.pending -= len(replies)
        return [(tag, future.result()) for tag, future in replies]

    def _take(
        self, reply_or_notice: tuple[Tag, Future[ChatReply]] | str, replies: list[tuple[Tag, Future[ChatReply]]]
    ) -> None:
        """Append a reply to `replies`; a notice is given in this thread, which may use the database."""
        if isinstance(reply_or_notice, str):
            self._chat.notice(reply_or_notice)
        else:
            replies.append(reply_or_notice)


class ChatEndpoint:
    """The Chat of an endpoint. Each request reserves its part of `budget` before it is sent.

    `notice` is called with a sentence when an endpoint that gives no answer is tried again, and with "" when the tries
    are used up. The log has the sentences as well.
    """

    together = 0

    def __init__(
        self,
        endpoint: Endpoint,
        patience: RetryPolicy,
        budget: Budget | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._endpoint, self._patience, self._budget = endpoint, patience, budget or Budget()
        self.info = ModelInfo(
            f"{endpoint.name}:{endpoint.model}", endpoint.url, ScoreKind.LOG_LIKELIHOOD, needs_video=False
        )
        self.gate = Gate(patience.concurrency)
        self.notice = notice or (lambda _sentence: None)
        # The tries that a notice was given of since the last answer: one for all requests in flight. The lock guards
        # it and `_in_a_row`.
        self._noticed, self._noticing = 1, threading.Lock()
        self._left_out: set[str] = set()
        self._most_logprobs = MAX_LOGPROBS
        self._in_a_row = 0
        # Why the last request failed, for the message of a run that stops.
        self.last_failure = ""
        self._stopped = threading.Event()

    def replies(self, requests: Sequence[ChatRequest]) -> Iterator[list[tuple[int, ChatReply]]]:
        """Yield each reply as it arrives. Closing the iterator ends the pauses and waits for requests in flight."""
        waiting = iter(enumerate(requests))
        following = next(waiting, None)
        with self.flight() as flight:
            while following is not None or flight.pending:
                while following is not None and flight.has_room:
                    flight.send(*following)
                    following = next(waiting, None)
                yield flight.arrived()

    @contextmanager
    def flight(self) -> Iterator[Flight[Any]]:
        """Open connections and threads for requests that are sent one by one. On exit, requests not yet sent are
        dropped."""
        self._stopped.clear()
        self.gate.start()
        pool = ThreadPoolExecutor(self._patience.concurrency, thread_name_prefix=f"chat-{self._endpoint.name}")
        with self._connected() as client:
            try:
                yield Flight(self, client, pool)
            finally:
                self._stopped.set()
                self.gate.stop()
                pool.shutdown(cancel_futures=True)

    def _connected(self) -> httpx.Client:
        key, max_connections = self._endpoint.key, self._patience.concurrency
        return httpx.Client(
            timeout=self._patience.timeout,
            limits=httpx.Limits(max_connections=max_connections, max_keepalive_connections=max_connections),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            follow_redirects=False,
            trust_env=False,
            verify=_certificates(),
        )

    def reply(
        self, client: httpx.Client, request: ChatRequest, send_notice: Callable[[str], None] = lambda _sentence: None
    ) -> ChatReply:
        """Return the answer to one request, after as many tries as it needs and is allowed.

        `send_notice` is called with each notice for the thread that waits.
        """
        sent, tries, failed, spent = 0, 0, Failed("not asked"), 0
        reserve = wire.estimated(request)
        while tries < self._patience.tries and failed.may_retry and not self._stopped.is_set():
            if self._in_a_row >= MAX_CONSECUTIVE_FAILURES:
                return ChatReply(failure=UNAVAILABLE, requests=sent, prompt_tokens=spent)
            if not self._budget.take(*reserve):
                return ChatReply(failure=SPENT, requests=sent, prompt_tokens=spent)
            sent += 1
            fields = self._fields()
            outcome = self._attempt(client, request)
            if isinstance(outcome, ChatReply):
                outcome = wire.counted(outcome, request)
                self._budget.settle(reserve, (outcome.prompt_tokens, outcome.completion_tokens))
                self._in_a_row, self._noticed = 0, 1
                return replace(outcome, requests=sent, prompt_tokens=outcome.prompt_tokens + spent)
            self._budget.settle(reserve, reserve if outcome.charged else (0, 0))
            spent += sum(reserve) if outcome.charged else 0
            if self._fields() != fields:
                continue
            failed, tries = outcome, tries + 1
            if failed.may_retry and tries < self._patience.tries:
                self._announce(failed, tries + 1, send_notice)
                self._stopped.wait(self._pause(tries, failed.pause))
        if failed.refusal:
            return ChatReply(
                failure=failed.why,
                refusal=failed.refusal,
                reason=wire.FILTERED,
                requests=sent,
                prompt_tokens=spent,
            )
        with self._noticing:
            self._in_a_row += 1
        why = f"{failed.why} after {tries} tries" if failed.may_retry and tries > 1 else failed.why
        self.last_failure = f"{why}{failed.message}"
        if self._noticed > 1:
            # There is no further try, so the last notice no longer holds.
            send_notice("")
        return ChatReply(failure=why, requests=sent, prompt_tokens=spent)

    def _announce(self, failed: Failed, following: int, send_notice: Callable[[str], None]) -> None:
        """Say once per try that the endpoint gives no answer. Too many requests (429) only set the pace."""
        with self._noticing:
            if following <= self._noticed or (failed.overloaded and failed.why != TIMED_OUT):
                return
            self._noticed = following
            url = httpx.URL(self._endpoint.url)
            address = f"{url.scheme}://{url.netloc.decode()}{url.path}"
            problem = f"no answer from {address} ({failed.why})"
            if failed.why.startswith(NO_CONNECTION):
                problem = f"could not reach {address} {failed.why.removeprefix(NO_CONNECTION).strip()}"
            retry_notice = f"trying again ({following} of {self._patience.tries})"
            logger.warning("endpoint %s: %s, %s", self._endpoint.name, problem, retry_notice)
            send_notice(f"endpoint {self._endpoint.name}: {problem}, {retry_notice}")

    def _fields(self) -> tuple[frozenset[str], int]:
        """Return the fields that are currently left out, and the max number of log-probabilities."""
        return frozenset(self._left_out), self._most_logprobs

    def _attempt(self, client: httpx.Client, request: ChatRequest) -> ChatReply | Failed:
        """Try once, as soon as the pace allows it."""
        ticket = self.gate.enter()
        if ticket is None:
            return Failed("not asked", may_retry=False)
        began = time.monotonic()
        outcome: ChatReply | Failed = Failed("not asked")
        try:
            body = wire.body_of(self._endpoint.model, request, self._left_out, self._most_logprobs)
            outcome = self._post(client, body)
        finally:
            seconds = time.monotonic() - began
            if isinstance(outcome, Failed):
                pause = (outcome.pause or 0.0) if outcome.may_retry else 0.0
                self.gate.leave(ticket, None, refused=outcome.overloaded, pause=pause)
            else:
                self.gate.leave(ticket, seconds)
        return replace(outcome, seconds=seconds) if isinstance(outcome, ChatReply) else outcome

    def _pause(self, tries: int, wished: float | None) -> float:
        """Return the seconds until the next try, different for every request, so that they do not all return at
        once."""
        if wished is not None:
            return min(self._patience.longest_pause, wished) * _JITTER.uniform(1.0, 1.1)
        return min(self._patience.longest_pause, FIRST_PAUSE * 2 ** (tries - 1)) * _JITTER.uniform(0.5, 1.0)

    def _post(self, client: httpx.Client, body: dict[str, Any]) -> ChatReply | Failed:
        url = f"{self._endpoint.url.rstrip('/')}/chat/completions"
        until = time.monotonic() + self._patience.timeout
        try:
            with client.stream("POST", url, json=body) as response:
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    # A server that sends slowly keeps every single read within its timeout.
                    if time.monotonic() > until:
                        return Failed(TIMED_OUT, charged=True, overloaded=True)
                    if len(content) > MAX_BYTES:
                        return Failed("the answer is too long", may_retry=False, charged=True)
        except httpx.TimeoutException:
            return Failed(TIMED_OUT, charged=True, overloaded=True)
        except httpx.TransportError as error:
            return Failed(f"{NO_CONNECTION} ({type(error).__name__})")
        except httpx.DecodingError:
            return Failed("the answer cannot be decompressed")
        return self._read(response, bytes(content), body)

    def _read(self, response: httpx.Response, content: bytes, body: dict[str, Any]) -> ChatReply | Failed:
        status = response.status_code
        if status == httpx.codes.OK:
            return wire.answer_of(content)
        code, message = wire.error_of(content)
        detail = wire.one_line(message.replace(self._endpoint.key, "…") if self._endpoint.key else message)
        self._end_if_hopeless(response, code, detail)
        if code in wire.REFUSED_CODES:
            return Failed(f"refused{detail}", may_retry=False, refusal=f"{code}{detail}")
        if status in OVERLOADED:
            pause = wire.seconds_of(response.headers.get("Retry-After", ""))
            patient = pause is None or pause <= self._patience.longest_pause
            why = str(status) if patient else f"{status}, wait {pause:.0f} s"
            return Failed(why, may_retry=patient, pause=pause, overloaded=True)
        if status >= 500 or status in (408, 409, 425):
            return Failed(str(status), message=detail, overloaded=status == 408)
        if status in (400, 422):
            self._leave_out(detail, body)
        return Failed(f"{status}{detail}", may_retry=False)

    def _end_if_hopeless(self, response: httpx.Response, code: str, detail: str) -> None:
        """Raise HubError for errors that no other request can avoid."""
        status, name = response.status_code, self._endpoint.name
        if response.has_redirect_location or 300 <= status < 400:
            raise HubError(f"endpoint {name}: it redirects ({status}), which is not followed; correct its address")
        if status in (401, 403):
            if not self._endpoint.key:
                raise HubError(f"endpoint {name}: it requires a key ({status}{detail}); set CHAT_{name.upper()}_KEY")
            raise HubError(f"endpoint {name}: it refuses the key ({status}{detail}); correct CHAT_{name.upper()}_KEY")
        if code in wire.NO_CREDIT:
            raise HubError(f"endpoint {name}: its account has no credit ({status}{detail}); add credit, then continue")
        if status in (404, 405):
            raise HubError(
                f"endpoint {name}: it does not know this address or the model {self._endpoint.model} "
                f"({status}{detail}); correct CHAT_{name.upper()}_URL and CHAT_{name.upper()}_MODELS"
            )

    def _leave_out(self, detail: str, body: dict[str, Any]) -> None:
        """Leave out, from now on, the fields that the server rejects."""
        rejected_fields = wire.rejected_fields(detail, body)
        if "top_logprobs" in rejected_fields and body["top_logprobs"] > wire.FEW_LOGPROBS:
            self._most_logprobs = wire.FEW_LOGPROBS
            return
        self._left_out.update(rejected_fields)


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates, read once per process: reading them takes as long as several requests."""
    return httpx.create_ssl_context(trust_env=False)
