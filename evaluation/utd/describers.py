"""Describe single frames with a local model or an endpoint. Only jobs load it."""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from django.utils.translation import gettext as _
from PIL import Image

from evaluation.errors import EvaluationError
from evaluation.utd.concepts import DESCRIBE
from foilworks.core.hub.interfaces import ChatReply, ChatRequest, Frames, GenerationRequest, Generator, ModelInfo
from foilworks.core.hub.served.budget import SPENT
from generation.instruction_models.cached_answers import Asking

# A killed worker loses at most these.
VIDEOS_PER_BATCH = 8
JPEG_QUALITY = 95


class Describer(Protocol):
    """Describes single frames."""

    info: ModelInfo
    videos_at_once: int

    def describe(self, frames: Iterable[Frames]) -> list[str]:
        """Describe n frames, each (1, height, width, 3) -> n descriptions; an empty one for a failure."""
        ...


@dataclass(frozen=True)
class ByGenerator:
    """A local image-text-to-text model."""

    model: Generator
    max_words: int
    temperature: float
    prompt: str = DESCRIBE
    videos_at_once: ClassVar[int] = VIDEOS_PER_BATCH

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    def describe(self, frames: Iterable[Frames]) -> list[str]:
        requests = [
            GenerationRequest(self.prompt, frame, self.max_words, temperature=self.temperature) for frame in frames
        ]
        return self.model.generate(requests) if requests else []


@dataclass(frozen=True)
class ByEndpoint:
    """An endpoint that accepts images; stored answers are reused."""

    asking: Asking
    max_words: int
    temperature: float
    prompt: str = DESCRIBE
    # A frame is freed after its request, and a killed worker repeats no request.
    videos_at_once: ClassVar[int] = 16 * VIDEOS_PER_BATCH

    @property
    def info(self) -> ModelInfo:
        return self.asking.chat.info

    def describe(self, frames: Iterable[Frames]) -> list[str]:
        requests = (
            ChatRequest(
                (("user", self.prompt),),
                max_tokens=2 * self.max_words,
                temperature=self.temperature,
                images=(jpeg(frame),),
            )
            for frame in frames
        )
        replies = {at: reply for at, _, reply in self.asking.stream(enumerate(requests))}
        check_budget(replies.values())
        return [replies[at].text for at in range(len(replies))]


def check_budget(replies: Iterable[ChatReply]) -> None:
    """Raise EvaluationError if the budget is used up. Results so far are stored."""
    if any(reply.failure == SPENT for reply in replies):
        raise EvaluationError(_("The budget is used up. Raise it and resume. Stored answers are reused."))


def jpeg(frame: Frames) -> bytes:
    out = io.BytesIO()
    Image.fromarray(frame[0]).save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()
