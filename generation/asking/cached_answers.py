"""Instruction models asked so that nothing is asked twice: what was answered once is found again by what was asked.

Pure. Where answers are kept is the caller's to say: rows of the database for runs, files for trials, or nothing.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hub.interfaces import Chat, ChatReply, ChatRequest, ModelInfo


class Answers(Protocol):
    """Where answers are kept, by the key of their request."""

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        """The answers that are there."""
        ...

    def keep(self, found: Mapping[str, ChatReply], info: ModelInfo) -> None:
        """Replies as they come, failures among them; only answers are kept for good, what they cost is counted."""
        ...


class MemoryAnswers:
    """For one process."""

    def __init__(self) -> None:
        self.kept: dict[str, ChatReply] = {}

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def keep(self, found: Mapping[str, ChatReply], info: ModelInfo) -> None:
        self.kept |= {key: reply for key, reply in found.items() if not reply.failure}


@dataclass(frozen=True)
class Asking:
    """A model with the place where its answers are kept."""

    chat: Chat
    answers: Answers

    def ask(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """One reply a request, in their order; equal requests are asked once, kept ones not at all.

        Models that answer several requests at once get them in the same company whatever is kept already, so that a
        run that was broken off ends as one that was not. HubError: nothing can be answered at all.
        """
        keys = [request_key(self.chat.info, request) for request in requests]
        once = dict(zip(keys, requests, strict=True))
        found = dict(self.answers.find(list(once)))
        for company in self._companies(list(once)):
            left = [key for key in company if key not in found]
            if not left:
                continue
            for together in self.chat.replies([once[key] for key in left]):
                came = {left[at]: reply for at, reply in together}
                self.answers.keep(came, self.chat.info)
                found |= came
        return [found[key] for key in keys]

    def _companies(self, keys: Sequence[str]) -> Iterator[Sequence[str]]:
        size = self.chat.together or max(1, len(keys))
        for first in range(0, len(keys), size):
            yield keys[first : first + size]


def request_key(info: ModelInfo, request: ChatRequest) -> str:
    """SHA-256 of the model (its name, and its weights or address) and of everything it is told."""
    told: dict[str, object] = {
        "model": [info.model_id, info.revision],
        "messages": request.messages,
        "schema": request.schema,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        # At temperature 0 nothing is drawn.
        "seed": request.seed if request.temperature > 0 else 0,
    }
    if request.images:
        told["images"] = [hashlib.sha256(image).hexdigest() for image in request.images]
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
