"""Instruction models behind an OpenAI-compatible endpoint (`POST …/chat/completions`), over httpx. Imports no torch.

Which addresses there are is the operator's to say; a redirect is never followed, and no proxy or key is taken from the
environment. What can pass by itself (429, 5xx, a timeout) is tried again with growing pauses, or as long as the server
asks for; what cannot (a refused key, an unknown model) ends everything with what to do.
"""

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from hub.errors import HubError
from hub.interfaces import ChatReply, ChatRequest, ModelInfo, ScoreKind
from text.storable import storable


class Budget:
    """At most `requests` and `tokens` (0: as many as it takes), `spent_…` of them gone already.

    Tokens are set aside before a request goes out and counted when its answer is there, so that concurrent requests
    cannot pass the limit together.
    """

    def __init__(self, requests: int = 0, tokens: int = 0, *, spent_requests: int = 0, spent_tokens: int = 0) -> None:
        self._most_requests, self._most_tokens = requests, tokens
        self._requests, self._tokens = spent_requests, spent_tokens
        self._lock = threading.Lock()

    def take(self, tokens: int) -> bool:
        """Set one request and `tokens` aside; False where they are no longer there."""
        with self._lock:
            if self._most_requests and self._requests >= self._most_requests:
                return False
            if self._most_tokens and self._tokens + tokens > self._most_tokens:
                return False
            self._requests += 1
            self._tokens += tokens
            return True

    def settle(self, set_aside: int, used: int) -> None:
        """`used` tokens were needed of those that were set aside."""
        with self._lock:
            self._tokens += used - set_aside


FIRST_PAUSE = 1.0
MAX_BYTES = 4 * 1024 * 1024
MAX_MESSAGE_LENGTH = 160
# So many requests in a row without an answer, each with all its tries: the endpoint is away, the rest is not asked.
MAX_CONSECUTIVE_FAILURES = 20
# What servers that know less than the protocol are sent without: a word of their complaint -> the field.
OPTIONAL = {"response_format": "response_format", "schema": "response_format", "seed": "seed", "temper": "temperature"}
# Characters a token, at least; only for what is set aside of a budget before the server has counted.
CHARS_PER_TOKEN = 3


@dataclass(frozen=True)
class Endpoint:
    """Where and what to ask. `url` ends before `/chat/completions`; the key stands in no log, error or row."""

    name: str
    url: str
    model: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True)
class Patience:
    """`timeout` and `longest_pause` in seconds; `tries` of each request in all; `concurrency`: requests at a time."""

    tries: int = 3
    timeout: float = 60.0
    concurrency: int = 4
    longest_pause: float = 60.0


@dataclass(frozen=True)
class _Failed:
    """One try that brought nothing. `pause`: seconds that the server asks for; `charged`: it may have worked on it."""

    why: str
    again: bool = True
    pause: float | None = None
    charged: bool = False


class ChatEndpoint:
    """The Chat of an endpoint; `budget` is taken from before anything is sent."""

    together = 0

    def __init__(self, endpoint: Endpoint, patience: Patience, budget: Budget | None = None) -> None:
        self._endpoint, self._patience, self._budget = endpoint, patience, budget or Budget()
        self.info = ModelInfo(
            f"{endpoint.name}:{endpoint.model}", endpoint.url, ScoreKind.LOG_LIKELIHOOD, needs_video=False
        )
        self._left_out: set[str] = set()
        self._in_a_row = 0
        self._stopped = threading.Event()

    def replies(self, requests: Sequence[ChatRequest]) -> Iterator[list[tuple[int, ChatReply]]]:
        """Each reply as it comes. Closing the iterator ends the pauses and waits for what is on its way."""
        waiting = deque(enumerate(requests))
        running: dict[Future[ChatReply], int] = {}
        self._stopped.clear()
        with self._connected() as client:
            pool = ThreadPoolExecutor(self._patience.concurrency, thread_name_prefix=f"chat-{self._endpoint.name}")
            try:
                while waiting or running:
                    while waiting and len(running) < self._patience.concurrency:
                        at, request = waiting.popleft()
                        running[pool.submit(self._reply, client, request)] = at
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    yield [(running.pop(future), future.result()) for future in done]
            finally:
                self._stopped.set()
                pool.shutdown(cancel_futures=True)

    def _connected(self) -> httpx.Client:
        key = self._endpoint.key
        return httpx.Client(
            timeout=self._patience.timeout,
            limits=httpx.Limits(max_connections=self._patience.concurrency),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            follow_redirects=False,
            trust_env=False,
        )

    def _reply(self, client: httpx.Client, request: ChatRequest) -> ChatReply:
        """The answer to one request, after as many tries as it takes and is allowed."""
        sent, tries, failed = 0, 0, _Failed("not asked")
        reserve = sum(len(content) for _, content in request.messages) // CHARS_PER_TOKEN + request.max_tokens
        spent = 0
        while tries < self._patience.tries and failed.again and not self._stopped.is_set():
            if self._in_a_row >= MAX_CONSECUTIVE_FAILURES:
                return ChatReply(failure="not asked: the endpoint had failed too often", requests=sent)
            if not self._budget.take(reserve):
                return ChatReply(failure="budget spent", requests=sent, prompt_tokens=spent)
            sent += 1
            left_out = set(self._left_out)
            found = self._post(client, self._body(request))
            if isinstance(found, ChatReply):
                found = _counted(found, request)
                self._budget.settle(reserve, found.prompt_tokens + found.completion_tokens)
                self._in_a_row = 0
                return replace(found, requests=sent, prompt_tokens=found.prompt_tokens + spent)
            self._budget.settle(reserve, reserve if found.charged else 0)
            spent += reserve if found.charged else 0
            if self._left_out != left_out:
                continue
            failed, tries = found, tries + 1
            if failed.again and tries < self._patience.tries:
                self._stopped.wait(self._pause(tries, failed.pause))
        self._in_a_row += 1
        why = f"{failed.why} after {tries} tries" if failed.again and tries > 1 else failed.why
        return ChatReply(failure=why, requests=sent, prompt_tokens=spent)

    def _pause(self, tries: int, wished: float | None) -> float:
        return min(self._patience.longest_pause, FIRST_PAUSE * 2 ** (tries - 1) if wished is None else wished)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": _messages(request),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
        }
        if request.schema is not None:
            named = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        for name in self._left_out & set(body):
            del body[name]
        if "max_tokens" in self._left_out:
            body["max_completion_tokens"] = request.max_tokens
        return body

    def _post(self, client: httpx.Client, body: dict[str, Any]) -> ChatReply | _Failed:
        url = f"{self._endpoint.url.rstrip('/')}/chat/completions"
        until = time.monotonic() + self._patience.timeout
        try:
            with client.stream("POST", url, json=body) as response:
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    # A server that drips keeps every single read within its timeout.
                    if time.monotonic() > until:
                        return _Failed("timed out", charged=True)
                    if len(content) > MAX_BYTES:
                        return _Failed("the answer is too long", again=False, charged=True)
        except httpx.TimeoutException:
            return _Failed("timed out", charged=True)
        except httpx.TransportError as error:
            return _Failed(f"no connection ({type(error).__name__})")
        except httpx.DecodingError:
            return _Failed("not JSON")
        return self._read(response, bytes(content), body)

    def _read(self, response: httpx.Response, content: bytes, body: dict[str, Any]) -> ChatReply | _Failed:
        status = response.status_code
        if status == httpx.codes.OK:
            return _answer(content)
        said = self._said(content)
        name = self._endpoint.name
        if response.has_redirect_location or 300 <= status < 400:
            raise HubError(f"endpoint {name}: it redirects ({status}), which is not followed; correct its address")
        if status in (401, 403):
            raise HubError(f"endpoint {name}: it refuses the key ({status}{said}); correct CHAT_{name.upper()}_KEY")
        if status in (404, 405):
            raise HubError(
                f"endpoint {name}: it does not know this address or the model {self._endpoint.model} ({status}{said}); "
                f"correct CHAT_{name.upper()}_URL and CHAT_{name.upper()}_MODELS"
            )
        if status == httpx.codes.TOO_MANY_REQUESTS or status == httpx.codes.SERVICE_UNAVAILABLE:
            pause = _seconds(response.headers.get("Retry-After", ""))
            patient = pause is None or pause <= self._patience.longest_pause
            return _Failed(str(status) if patient else f"{status}, wait {pause:.0f} s", again=patient, pause=pause)
        if status >= 500 or status in (408, 409, 425):
            return _Failed(str(status))
        if status in (400, 422):
            self._leave_out(said, body)
        return _Failed(f"{status}{said}", again=False)

    def _leave_out(self, said: str, body: dict[str, Any]) -> None:
        """Note the field that the server complains of, so that it is sent no more; the first guess is the schema."""
        named = [fieldname for word, fieldname in OPTIONAL.items() if word in said.lower() and fieldname in body]
        if "max_tokens" in said and "max_tokens" in body:
            named.append("max_tokens")
        if not named and "response_format" in body:
            named.append("response_format")
        self._left_out.update(named)

    def _said(self, content: bytes) -> str:
        """What an error says, as ": message" on one line, without the key."""
        text = content.decode("utf-8", "replace")
        try:
            error = json.loads(text)
        except (ValueError, RecursionError):
            error = None
        if isinstance(error, dict):
            inner = error.get("error", error.get("message", error.get("detail", "")))
            text = str(inner.get("message", "") if isinstance(inner, dict) else inner)
        if self._endpoint.key:
            text = text.replace(self._endpoint.key, "…")
        line = " ".join(storable(text).split())[:MAX_MESSAGE_LENGTH]
        return f": {line}" if line else ""


def _messages(request: ChatRequest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": role, "content": content} for role, content in request.messages]
    if request.images:
        shown = [f"data:image/jpeg;base64,{base64.b64encode(image).decode()}" for image in request.images]
        parts = [{"type": "image_url", "image_url": {"url": url}} for url in shown]
        found[-1]["content"] = [*parts, {"type": "text", "text": found[-1]["content"]}]
    return found


def _answer(content: bytes) -> ChatReply | _Failed:
    """The text of an answer in OpenAI's form; "not JSON" where it is none."""
    try:
        found = json.loads(content)
        choice = found["choices"][0]
        message = choice["message"]
        text = _joined(message.get("content"))
        usage = found.get("usage") or {}
        counted = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return _Failed("not JSON", charged=True)
    if not isinstance(text, str) or not text.strip():
        refusal = message.get("refusal")
        why = (
            f"refused: {' '.join(refusal.split())[:MAX_MESSAGE_LENGTH]}" if isinstance(refusal, str) else "empty answer"
        )
        return _Failed(why, again=False, charged=True)
    return ChatReply(
        storable(text),
        cut=choice.get("finish_reason") == "length",
        revision=storable(str(found.get("model") or ""))[:64],
        prompt_tokens=counted[0],
        completion_tokens=counted[1],
    )


def _counted(reply: ChatReply, request: ChatRequest) -> ChatReply:
    """With an estimate of its tokens where the server does not count: a budget must hold there, too."""
    if reply.prompt_tokens or reply.completion_tokens:
        return reply
    asked = sum(len(content) for _, content in request.messages)
    return replace(
        reply, prompt_tokens=asked // CHARS_PER_TOKEN, completion_tokens=len(reply.text) // CHARS_PER_TOKEN + 1
    )


def _joined(content: object) -> object:
    """Some servers answer in parts: [{"type": "text", "text": "…"}]."""
    if not isinstance(content, list):
        return content
    return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))


def _seconds(header: str) -> float | None:
    """Retry-After in seconds: a number or a date; None where it is neither."""
    header = header.strip()
    if header.isdecimal():
        return float(header)
    try:
        when = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
