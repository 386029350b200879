"""What a model can do for the rest of the code (docs/reference/models.md#interfaces). Pure: numpy, no torch.

An adapter implements one of the protocols below and carries a `ModelInfo`. Arrays cross the boundary as numpy, on
the CPU. Similarity is returned in float32, since bf16 ties pairs (docs/reference/formulas.md#stored-scores).
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.uint8]
"""One clip: (k, height, width, 3), RGB, in presentation order."""


class ScoreKind(StrEnum):
    """What a raw value is; `HIGHER_IS_BETTER` says which way it ranks."""

    COSINE = "cosine"
    LOGIT = "logit"
    LOG_LIKELIHOOD = "log_likelihood"
    P_YES = "p_yes"
    PERPLEXITY = "perplexity"


HIGHER_IS_BETTER: Mapping[ScoreKind, bool] = {
    ScoreKind.COSINE: True,
    ScoreKind.LOGIT: True,
    ScoreKind.LOG_LIKELIHOOD: True,
    ScoreKind.P_YES: True,
    ScoreKind.PERPLEXITY: False,
}


# What a model sees, by which results group models: `ModelInfo.card["category"]`.
CATEGORIES = ("text", "image-text", "video")


@dataclass(frozen=True)
class ModelInfo:
    """Which model this is and what it wants to see.

    `model_id` and `revision` name the weights wherever they lie (a path is not part of them); `frames` is how many
    frames a clip is sampled to and `size` the (height, width) they are resized to by the decoder, None = as stored.
    `needs_video` is False for a model of text alone: its scores do not depend on the clip. `by_item` is True where a
    score depends on the other texts that are asked with it, as a share of a choice does. `card` says the `category`.
    """

    model_id: str
    revision: str
    kind: ScoreKind
    frames: int = 0
    size: tuple[int, int] | None = None
    needs_video: bool = True
    by_item: bool = False
    card: Mapping[str, object] = field(default_factory=dict)

    @property
    def higher_is_better(self) -> bool:
        return HIGHER_IS_BETTER[self.kind]


@dataclass(frozen=True)
class Trust:
    """What a project's owner allows for one model: code of its authors, and weights that are no safetensors."""

    remote_code: bool = False
    other_weights: bool = False


@dataclass(frozen=True)
class VideoMeta:
    """What an adapter may want to know beside the frames: their presentation times in seconds, the clip's key, and the
    file that they come from with its trim in seconds (None = as far as it goes)."""

    key: str = ""
    times: tuple[float, ...] = ()
    path: str | os.PathLike[str] = ""
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True)
class Score:
    """One raw value. `parts` holds what it was made from (log-likelihood: sum, mean, tokens)."""

    value: float
    kind: ScoreKind
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def higher_is_better(self) -> bool:
        return HIGHER_IS_BETTER[self.kind]


@runtime_checkable
class Embedder(Protocol):
    """A dual encoder, or anything that scores from one encoding a clip and one a text."""

    info: ModelInfo

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """n clips -> n rows, in their order."""
        ...

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """m texts -> m rows, in their order."""
        ...

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """n and m rows -> the (n, m) float32 matrix of `info.kind`."""
        ...


@runtime_checkable
class Shrinks(Protocol):
    """A model whose frames can be made smaller before it sees them, on the processor and beside its own work."""

    def shrink(self, frames: Frames) -> Frames:
        """The frames nearer to what the model sees; what it gives for them is what it gives for the frames as read."""
        ...


@dataclass(frozen=True)
class TextRead:
    """What a model reads of a text that reaches its limit, in tokens with the special ones.

    `kept` is equal for texts of which the model reads the same.
    """

    tokens: int
    limit: int
    kept: str

    @property
    def is_cut(self) -> bool:
        return self.tokens > self.limit


@runtime_checkable
class LimitsTexts(Protocol):
    """A model that reports the texts it cannot read to their end. Without this, a run says that cuts are unknown."""

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead] | None:
        """Map each text that reaches the limit to what is read of it; None if the model cannot say.

        Empty for a model that reads texts of any length.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """A language model, a generative model or a matching head: scores texts for one clip (or for none)."""

    info: ModelInfo

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """One score a text, in their order. `mode` chooses among what the model offers ("" = its own default)."""
        ...


@dataclass(frozen=True)
class GenerationRequest:
    """One prompt, with the clip it is about where there is one.

    `system` is the instruction above the conversation, `examples` are (prompt, answer) turns before it, oldest first;
    a generator without a place for them writes them into its prompt. `temperature` 0 takes the likeliest token each
    time; above it `seed` makes the draw repeatable. `max_words` bounds the answer.
    """

    prompt: str
    clip: Frames | None = None
    max_words: int = 60
    meta: VideoMeta | None = None
    system: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    temperature: float = 0.0
    seed: int = 0


@runtime_checkable
class Generator(Protocol):
    """Writes texts: descriptions of clips, extractions, answers to choices; local models and endpoints alike."""

    info: ModelInfo

    def generate(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """One text a request, in their order, without the prompt; an empty text where nothing was said."""
        ...


@dataclass(frozen=True)
class ChatRequest:
    """A conversation to go on with: (role, content) each, roles system, user, assistant.

    `schema`: the JSON schema of the answer, kept to by models that can. `max_tokens`: of the answer. `images`: JPEG
    or PNG files that are shown with the last message, to models that see; `as_video`: as the frames of one video.
    `top_logprobs`: how many alternatives of each token to report with their log-probabilities.
    """

    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0
    images: tuple[bytes, ...] = ()
    as_video: bool = False
    top_logprobs: int = 0


@dataclass(frozen=True)
class ChatReply:
    """The answer, or why there is none (`failure`).

    `cut`: it ended at max_tokens. `requests`: how often an endpoint was asked for it. `revision`: which model answered,
    as it says itself. `refusal`: the model or its filter declined, and this is what it said; `reason`: why it stopped.
    `logprobs`: for each of the first tokens its alternatives as (token, natural-log probability), most probable first.
    `cached_tokens`: of the prompt's, those that the server had computed before. `seconds`: the last try took.
    """

    text: str = ""
    failure: str = ""
    cut: bool = False
    revision: str = ""
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    refusal: str = ""
    reason: str = ""
    logprobs: tuple[tuple[tuple[str, float], ...], ...] = ()
    seconds: float = 0.0


@runtime_checkable
class Chat(Protocol):
    """`together`: how many requests go through the model at once; 0 where each goes its own way."""

    info: ModelInfo
    together: int

    def replies(self, requests: Sequence[ChatRequest]) -> Iterator[list[tuple[int, ChatReply]]]:
        """(place of the request, its reply), those that came together in one list; every request is answered once.

        HubError: nothing can be answered at all (a refused key, an unknown model).
        """
        ...


class RepliesInFlight(Protocol):
    """Requests that were sent one by one."""

    pending: int

    @property
    def has_room(self) -> bool:
        """Whether the endpoint takes one more now."""
        ...

    def send(self, tag: Any, request: ChatRequest) -> None: ...

    def arrived(self) -> list[tuple[Any, ChatReply]]:
        """Wait for a reply; all that are there, with their tags. HubError: nothing can be answered at all."""
        ...


@runtime_checkable
class Streams(Protocol):
    """A Chat that takes requests while others are on their way."""

    def flight(self) -> AbstractContextManager[RepliesInFlight]: ...


@dataclass(frozen=True)
class Fill:
    """A filler's candidate for one blank: the text put in and its natural-log probability (<= 0)."""

    text: str
    log_probability: float


@runtime_checkable
class Filler(Protocol):
    info: ModelInfo
    blank: str

    @property
    def words(self) -> Collection[str]:
        """The words that it can put into a blank."""
        ...

    def fill(self, texts: Sequence[str], k: int, allowed: Collection[str] | None = None) -> list[list[Fill]]:
        """For each text, which holds exactly one `blank`: at most k candidates, most probable first.

        `allowed` masks the vocabulary before the k best are taken; probabilities stay those of the whole vocabulary.
        """
        ...

    def self_losses(self, texts: Sequence[str]) -> list[float]:
        """Mean cross entropy of each text's own tokens with nothing masked, in nats."""
        ...


@runtime_checkable
class SpanFiller(Protocol):
    """Puts spans of any length into a blank, by beam search."""

    info: ModelInfo
    blank: str

    def fill_spans(self, texts: Sequence[str], k: int, *, beams: int, longest: int = 8) -> list[list[Fill]]:
        """For each text, which holds exactly one `blank`: at most k spans of at most `longest` tokens, best first."""
        ...

    def span_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """(text with one blank, a span) -> the natural-log probability that the span stands there."""
        ...


@runtime_checkable
class PairClassifier(Protocol):
    info: ModelInfo
    labels: tuple[str, ...]

    def logits(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        """n pairs -> (n, len(labels)) raw values; the second of a pair is None where one text is judged."""
        ...

    def probs(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        """n pairs -> (n, len(labels)) probabilities; every row sums to 1."""
        ...


@runtime_checkable
class TextEncoder(Protocol):
    """Sentence encoders: `Embedder` without the video's side. Rows have length one."""

    info: ModelInfo

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """m texts -> m rows, in their order."""
        ...


@runtime_checkable
class FeatureExtractor(Protocol):
    """A frozen video backbone: what a classifier of clips is trained on."""

    info: ModelInfo

    def features(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """n clips of `info.frames` frames -> (n, tokens, d), in their order."""
        ...


@dataclass(frozen=True)
class Detection:
    """What a detector saw: a label, its score in 0..1, and (x0, y0, x1, y1) in shares of width and height."""

    label: str
    score: float
    box: tuple[float, float, float, float]


@runtime_checkable
class Detector(Protocol):
    info: ModelInfo

    def detect(self, frames: Frames) -> list[list[Detection]]:
        """For each of the k frames: what is in it, highest score first."""
        ...
