"""Describers and extractors as UTD asks them; only jobs load this, since they are models."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from PIL import Image

from evaluation.errors import EvaluationError
from evaluation.utd.concepts import (
    ACTIVITIES,
    DESCRIBE,
    DESCRIPTION,
    NO_ACTIVITY,
    OBJECTS,
    PROMPTS,
    SUMMARY,
    VERBS,
    frame_text,
)
from evaluation.utd.models import TextSource
from generation.asking.answer_rows import RowAnswers
from generation.asking.cached_answers import Asking
from generation.asking.endpoints import find_endpoint
from hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, Patience
from hub.adapters.registry import CHAT, open_generator, open_helper
from hub.interfaces import Chat, ChatRequest, Frames, GenerationRequest, Generator, ModelInfo

ENDPOINT = "endpoint:"
# Change it with any of PROMPTS or DESCRIBE: texts made with other prompts are other texts.
PROMPTS_VERSION = "1"
JPEG_QUALITY = 95


class Describer(Protocol):
    """Tells what a single frame shows."""

    info: ModelInfo

    def describe(self, frames: Sequence[Frames]) -> list[str]:
        """n frames, each (1, height, width, 3) -> n descriptions; an empty one where nothing came."""
        ...


@dataclass(frozen=True)
class ByGenerator:
    """A local image-text-to-text model."""

    model: Generator
    max_words: int
    temperature: float

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    def describe(self, frames: Sequence[Frames]) -> list[str]:
        asked = [GenerationRequest(DESCRIBE, frame, self.max_words, temperature=self.temperature) for frame in frames]
        return self.model.generate(asked)


@dataclass(frozen=True)
class ByEndpoint:
    """An endpoint that takes pictures; what it answered once is not asked again."""

    asking: Asking
    max_words: int
    temperature: float

    @property
    def info(self) -> ModelInfo:
        return self.asking.chat.info

    def describe(self, frames: Sequence[Frames]) -> list[str]:
        asked = [
            ChatRequest(
                (("user", DESCRIBE),),
                max_tokens=2 * self.max_words,
                temperature=self.temperature,
                images=(jpeg(frame),),
            )
            for frame in frames
        ]
        return [reply.text for reply in self.asking.ask(asked)]


def jpeg(frame: Frames) -> bytes:
    out = io.BytesIO()
    Image.fromarray(frame[0]).save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()


def open_describer(spec: str, params: Mapping[str, Any]) -> Describer:
    """HubError or GenerationError: it does not load, or there is no such endpoint."""
    if spec.startswith(ENDPOINT):
        asking = Asking(_endpoint(spec), RowAnswers(None, int))
        return ByEndpoint(asking, params["max_words"], params["temperature"])
    return ByGenerator(open_generator(spec, device=params["device"]), params["max_words"], params["temperature"])


def open_extractor(spec: str, params: Mapping[str, Any]) -> Asking:
    """The same of a model that takes concepts out of descriptions."""
    chat: Chat = _endpoint(spec) if spec.startswith(ENDPOINT) else open_helper(spec, CHAT, device=params["device"])
    if not isinstance(chat, Chat):
        raise EvaluationError(f"'{spec}' holds no conversations; name chat:MODEL or endpoint:NAME")
    return Asking(chat, RowAnswers(None, int))


def _endpoint(spec: str) -> ChatEndpoint:
    name, _, model = spec.removeprefix(ENDPOINT).partition(":")
    found = find_endpoint(name)
    if model and model not in found.models:
        raise EvaluationError(f"endpoint {name}: '{model}' is none of its models; choose one of {found.models}")
    return ChatEndpoint(Endpoint(found.name, found.url, model or found.models[0], found.key), Patience())


def source_of(spec: str, info: ModelInfo, settings: Mapping[str, Any]) -> TextSource:
    """The row of a model with these settings."""
    told = {"model": f"{info.model_id}@{info.revision}", "prompts": PROMPTS_VERSION, **settings}
    digest = hashlib.sha256(json.dumps([spec, told], sort_keys=True).encode()).hexdigest()
    return TextSource.objects.get_or_create(sha256=digest, defaults={"spec": spec, "settings": told})[0]


def extracted(asking: Asking, frames: Sequence[Mapping[str, str]], params: Mapping[str, Any]) -> list[dict[str, str]]:
    """What each frame's raw answers lack of objects, activities, verbs and the summary.

    Verbs are asked of the activities as they stand after post-processing, and not at all where there are none. What got
    no answer is left out.
    """
    found: list[dict[str, str]] = [{} for _ in frames]
    first = [
        (at, concept, raw[DESCRIPTION])
        for at, raw in enumerate(frames)
        for concept in (OBJECTS, ACTIVITIES, SUMMARY)
        if concept not in raw and DESCRIPTION in raw
    ]
    _ask(asking, first, found, params)
    known = [{**raw, **own} for raw, own in zip(frames, found, strict=True)]
    said = {
        at: frame_text(ACTIVITIES, raw[ACTIVITIES])
        for at, raw in enumerate(known)
        if ACTIVITIES in raw and VERBS not in raw
    }
    for at, activities in said.items():
        if activities == NO_ACTIVITY:
            found[at][VERBS] = NO_ACTIVITY
    _ask(asking, [(at, VERBS, text) for at, text in said.items() if text != NO_ACTIVITY], found, params)
    return found


def _ask(
    asking: Asking, wanted: Sequence[tuple[int, str, str]], found: list[dict[str, str]], params: Mapping[str, Any]
) -> None:
    requests = [
        ChatRequest(
            tuple(PROMPTS[concept].asked(text)), max_tokens=params["max_tokens"], temperature=params["temperature"]
        )
        for _, concept, text in wanted
    ]
    for (at, concept, _), reply in zip(wanted, asking.ask(requests), strict=True):
        if not reply.failure:
            found[at][concept] = reply.text


COMPLETE = frozenset({DESCRIPTION, OBJECTS, ACTIVITIES, VERBS, SUMMARY})
