"""Query instruction models without repeating a request: an answer is stored under the key of its request.

Pure. The caller chooses the store: rows of the database for runs, files for trials.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Chat, ChatReply, ChatRequest, ModelInfo, Streams
from foilworks.core.text.batches import batched

Tag = TypeVar("Tag")
# Requests whose stored answers are looked up together.
LOOKED_UP = 32
# Replies of so long are stored together; a killed worker loses them, like those in flight.
KEEP_SECONDS = 0.2


class Answers(Protocol):
    """A store of answers, by the key of their request."""

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        """Return the stored answers."""
        ...

    def keep(self, replies: Mapping[str, ChatReply], info: ModelInfo) -> None:
        """Store replies as they arrive. Of failures only the cost is counted."""
        ...


@dataclass(frozen=True)
class Asking:
    """A model with the store of its answers."""

    chat: Chat
    answers: Answers

    def ask(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Return one reply per request, in order. Equal requests are sent once, requests with stored answers never.

        Models that answer in batches get the same batches whatever is stored, so that an
        interrupted run ends with the same results. HubError: the model cannot answer.
        """
        keys = [request_key(self.chat.info, request) for request in requests]
        request_by_key = dict(zip(keys, requests, strict=True))
        reply_by_key = dict(self.answers.find(list(request_by_key)))
        for company in self._companies(list(request_by_key)):
            missing_keys = [key for key in company if key not in reply_by_key]
            if not missing_keys:
                continue
            for reply_batch in self.chat.replies([request_by_key[key] for key in missing_keys]):
                new_replies = {missing_keys[index]: reply for index, reply in reply_batch}
                self.answers.keep(new_replies, self.chat.info)
                reply_by_key |= new_replies
        return [reply_by_key[key] for key in keys]

    def stream(self, requests: Iterable[tuple[Tag, ChatRequest]]) -> Iterator[tuple[Tag, str, ChatReply]]:
        """Yield (tag, key, reply) as replies arrive, in any order, while reading `requests`.

        Requests are read only as fast as the endpoint accepts them. Equal ones are sent once, stored ones never.
        HubError: the model cannot answer.
        """
        if not isinstance(self.chat, Streams):
            raise HubError(f"{self.chat.info.model_id}: this model answers in batches; choose an endpoint")
        waiting_tags: dict[str, list[Tag]] = {}
        stored_replies: dict[str, ChatReply] = {}
        source = self._looked_up(requests, stored_replies)
        following = next(source, None)
        with self.chat.flight() as flight, _Keeping(self.answers, self.chat.info) as keeping:
            while following is not None or flight.pending:
                while following is not None and flight.has_room:
                    tag, key, request = following
                    if key in stored_replies:
                        yield tag, key, stored_replies[key]
                    elif key in waiting_tags:
                        waiting_tags[key].append(tag)
                    else:
                        waiting_tags[key] = [tag]
                        flight.send(key, request)
                    following = next(source, None)
                if flight.pending:
                    new_replies = dict(flight.arrived(keeping.due_in()))
                    keeping.add(new_replies)
                    # An equal request may have been looked up before this answer arrived.
                    stored_replies.update(new_replies)
                    for key, reply in new_replies.items():
                        for tag in waiting_tags.pop(key):
                            yield tag, key, reply

    def _looked_up(
        self, requests: Iterable[tuple[Tag, ChatRequest]], stored_replies: dict[str, ChatReply]
    ) -> Iterator[tuple[Tag, str, ChatRequest]]:
        """Yield each request with its key; `stored_replies` gets the stored answers of each batch."""
        for batch in batched(requests, LOOKED_UP):
            keyed = [(tag, request_key(self.chat.info, request), request) for tag, request in batch]
            stored_replies.clear()
            stored_replies.update(self.answers.find(list(dict.fromkeys(key for _, key, _ in keyed))))
            yield from keyed

    def _companies(self, keys: Sequence[str]) -> Iterator[Sequence[str]]:
        size = self.chat.together or max(1, len(keys))
        for first in range(0, len(keys), size):
            yield keys[first : first + size]


class _Keeping:
    """Stores the replies of KEEP_SECONDS together: a transaction for each takes longer than the rest of a request."""

    def __init__(self, answers: Answers, info: ModelInfo) -> None:
        self._answers, self._info = answers, info
        self._held: dict[str, ChatReply] = {}
        self._due = 0.0

    def __enter__(self) -> "_Keeping":
        return self

    def __exit__(self, *_: object) -> None:
        self._keep()

    def due_in(self) -> float | None:
        """Return the seconds until replies must be stored; None if all are."""
        return max(0.0, self._due - time.monotonic()) if self._held else None

    def add(self, replies: Mapping[str, ChatReply]) -> None:
        if replies and not self._held:
            self._due = time.monotonic() + KEEP_SECONDS
        self._held |= replies
        if self.due_in() == 0.0:
            self._keep()

    def _keep(self) -> None:
        # Emptied before: storing may end the job.
        batch, self._held = self._held, {}
        if batch:
            self._answers.keep(batch, self._info)


def request_key(info: ModelInfo, request: ChatRequest) -> str:
    """Return the SHA-256 of the model (its name, and its weights or address) and of its whole input."""
    request_record: dict[str, object] = {
        "model": [info.model_id, info.revision],
        "messages": request.messages,
        "schema": request.schema,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        # At temperature 0 the seed has no effect.
        "seed": request.seed if request.temperature > 0 else 0,
    }
    if request.as_video:
        request_record["as_video"] = True
    if request.top_logprobs:
        request_record["top_logprobs"] = request.top_logprobs
    if request.fields:
        request_record["fields"] = request.fields
    if request.images:
        request_record["images"] = [hashlib.sha256(image).hexdigest() for image in request.images]
    if request.sound:
        request_record["sound"] = hashlib.sha256(request.sound).hexdigest()
    return hashlib.sha256(json.dumps(request_record, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
