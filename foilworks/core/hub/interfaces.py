"""Interfaces of models for the rest of the code (docs/reference/models.md#interfaces). Pure: numpy, no torch.

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
    """Kind of a raw value; `HIGHER_IS_BETTER` says in which direction it ranks."""

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


# What a model reads; results group models by it: `ModelInfo.card["category"]`.
CATEGORIES = ("text", "image-text", "video")


@dataclass(frozen=True)
class ModelInfo:
    """Identity of a model, and which frames it needs.

    `model_id` and `revision` name the weights, regardless of their path. `frames`: the number of frames per clip.
    `size`: the (height, width) to which the decoder resizes them, None = as stored. `needs_video` is False for a
    text-only model, whose scores do not depend on the clip. `by_item` is True if a score depends on the other texts of
    the request, as a share of a choice does. `reads_times` is True if the model gets the times of its frames
    (`VideoMeta.times`), or opens the file. `card` contains the `category`.
    """

    model_id: str
    revision: str
    kind: ScoreKind
    frames: int = 0
    size: tuple[int, int] | None = None
    needs_video: bool = True
    by_item: bool = False
    reads_times: bool = False
    card: Mapping[str, object] = field(default_factory=dict)

    @property
    def higher_is_better(self) -> bool:
        return HIGHER_IS_BETTER[self.kind]


@dataclass(frozen=True)
class Trust:
    """What a project's owner allows for one model: its authors' code, and weights that are not safetensors."""

    remote_code: bool = False
    other_weights: bool = False


@dataclass(frozen=True)
class VideoMeta:
    """Facts about a clip beside its frames: presentation times in seconds, its key, its file with the trim in seconds
    (None = to the end), and how many `seconds` it lasts (0: unknown).

    `before`: a text before the prompt, such as subtitles. `asks`: the question of yes or no about a text, with {} where
    the text is; "" for the model's own. Only models that read prompts get these.
    """

    key: str = ""
    times: tuple[float, ...] = ()
    path: str | os.PathLike[str] = ""
    start: float | None = None
    end: float | None = None
    before: str = ""
    asks: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Score:
    """One raw value. `parts` are the values it was computed from (log-likelihood: sum, mean, tokens).

    `why`: why the model's answer cannot be read. The value then counts nowhere.
    """

    value: float
    kind: ScoreKind
    parts: Mapping[str, float] = field(default_factory=dict)
    why: str = ""

    @property
    def higher_is_better(self) -> bool:
        return HIGHER_IS_BETTER[self.kind]


@runtime_checkable
class Embedder(Protocol):
    """A dual encoder, or any model that scores one encoding per clip against one per text."""

    info: ModelInfo

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """Encode n clips as n rows, in their order."""
        ...

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as m rows, in their order."""
        ...

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the (n, m) float32 matrix of `info.kind` for n and m rows."""
        ...


@runtime_checkable
class Shrinks(Protocol):
    """A model whose frames can be reduced before it gets them, on the CPU and in parallel to its own work."""

    def shrink(self, frames: Frames) -> Frames:
        """Return frames closer to the model's input size; the model's result for them is the same as for the original
        frames."""
        ...


@runtime_checkable
class EncodesByFrame(Protocol):
    """An Embedder that can say that a clip's row has one entry per frame, in order, each of that frame alone.

    The rows of the same frames in another order follow from it. BLIP-2 and models of the CLIP type say so.
    """

    encodes_by_frame: bool


@dataclass(frozen=True)
class TextRead:
    """How much a model reads of a text that reaches its limit, in tokens with the special ones.

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
        """Return one score per text, in their order. `mode` selects one of the model's modes ("" = its default)."""
        ...


@runtime_checkable
class ScoresWithoutClip(Protocol):
    """A Scorer of clips that can be asked the same without one. Models without this get grey frames instead."""

    @property
    def scores_without_clip(self) -> bool:
        """Report whether the model's own mode has an answer without a clip."""
        ...

    def score_without_clip(self, texts: Sequence[str], mode: str = "", before: str = "") -> list[Score]:
        """Return one score per text, in their order, from the same prompt without the clip, after a text `before`."""
        ...


@dataclass(frozen=True)
class GenerationRequest:
    """One prompt, with a clip if it is about one.

    `system` is the instruction above the conversation. `examples` are (prompt, answer) turns before it, oldest first; a
    generator without turns writes them into its prompt. `temperature` 0 chooses the most probable token each time;
    above it, `seed` makes the draw repeatable. `max_words` limits the answer.
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
    """A model that writes texts: descriptions of clips, extractions, answers to choices; local models and endpoints
    alike."""

    info: ModelInfo

    def generate(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Return one text per request, in their order, without the prompt; empty if the model said nothing."""
        ...


@dataclass(frozen=True)
class ChatRequest:
    """A conversation to answer: (role, content) pairs, with the roles system, user and assistant.

    If the last one is the assistant's, it is the start of the answer, and the reply continues it.

    `schema`: the JSON schema of the answer, for models that support it. `max_tokens`: of the answer. `images`: JPEG or
    PNG files that are sent with the last message, to models that see; `as_video`: as the frames of one video.
    `top_logprobs`: how many alternatives of each token to report with their log-probabilities. `fields`: further fields
    of the request, such as reasoning_effort. `sound`: a WAV file that is sent with the last message, to models that
    hear.
    """

    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0
    images: tuple[bytes, ...] = ()
    as_video: bool = False
    top_logprobs: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)
    sound: bytes = b""


@dataclass(frozen=True)
class ChatReply:
    """The answer, or why there is none (`failure`).

    `cut`: it ended at max_tokens. `requests`: the number of requests to the endpoint. `revision`: the model that
    answered, by its own report. `refusal`: what the model or its filter said if it declined; `reason`: why it stopped.
    `logprobs`: for each of the first tokens its alternatives as (token, natural-log probability), most probable first.
    `cached_tokens`: those of the prompt that the server had cached; `clip_tokens`: those of its pictures, and
    `thought_tokens` those of the answer that are a thought. `seconds`: duration of the last try.
    """

    text: str = ""
    failure: str = ""
    cut: bool = False
    revision: str = ""
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    clip_tokens: int = 0
    thought_tokens: int = 0
    refusal: str = ""
    reason: str = ""
    logprobs: tuple[tuple[tuple[str, float], ...], ...] = ()
    seconds: float = 0.0


@runtime_checkable
class Chat(Protocol):
    """A model that answers conversations. `together`: how many requests run at once; 0 if each runs independently."""

    info: ModelInfo
    together: int

    def replies(self, requests: Sequence[ChatRequest]) -> Iterator[list[tuple[int, ChatReply]]]:
        """Yield lists of (index of the request, its reply), those that arrived together in one list; every request is
        answered once.

        HubError: the model can answer nothing (a refused key, an unknown model).
        """
        ...


class RepliesInFlight(Protocol):
    """Requests that are sent one by one."""

    pending: int

    @property
    def has_room(self) -> bool:
        """Whether the endpoint accepts another request now."""
        ...

    def send(self, tag: Any, request: ChatRequest) -> None: ...

    def arrived(self, timeout: float | None = None) -> list[tuple[Any, ChatReply]]:
        """Wait for a reply, at most `timeout` seconds; return all that have arrived, with their tags. HubError: the
        endpoint can answer nothing."""
        ...


@runtime_checkable
class Streams(Protocol):
    """A Chat that accepts requests while others are in flight."""

    def flight(self) -> AbstractContextManager[RepliesInFlight]: ...


@dataclass(frozen=True)
class Fill:
    """A candidate for one blank: the text, and its natural-log probability (<= 0)."""

    text: str
    log_probability: float


@runtime_checkable
class Filler(Protocol):
    info: ModelInfo
    blank: str

    @property
    def words(self) -> Collection[str]:
        """Return the words that can fill a blank."""
        ...

    def fill(self, texts: Sequence[str], k: int, allowed: Collection[str] | None = None) -> list[list[Fill]]:
        """Return, for each text with exactly one `blank`, at most k candidates, most probable first.

        `allowed` masks the vocabulary before the k best are taken; probabilities stay those of the whole vocabulary.
        """
        ...

    def self_losses(self, texts: Sequence[str]) -> list[float]:
        """Return the mean cross entropy of each text's own tokens with nothing masked, in nats."""
        ...


@runtime_checkable
class SpanFiller(Protocol):
    """A model that fills a blank with spans of any length, by beam search."""

    info: ModelInfo
    blank: str

    def fill_spans(self, texts: Sequence[str], k: int, *, beams: int, longest: int = 8) -> list[list[Fill]]:
        """Return, for each text with exactly one `blank`, at most k spans of at most `longest` tokens, best first."""
        ...

    def span_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the natural-log probability of each span in the blank of its text, for (text with one blank, span)."""
        ...


@runtime_checkable
class PairClassifier(Protocol):
    info: ModelInfo
    labels: tuple[str, ...]

    def logits(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        """Return (n, len(labels)) raw values of n pairs; the second of a pair is None if one text is judged."""
        ...

    def probs(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        """Return (n, len(labels)) probabilities of n pairs; every row sums to 1."""
        ...


@runtime_checkable
class TextEncoder(Protocol):
    """A sentence encoder: `Embedder` without the video's side. Rows have length one."""

    info: ModelInfo

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as m rows, in their order."""
        ...


@runtime_checkable
class FeatureExtractor(Protocol):
    """A frozen video backbone, on which a classifier of clips is trained."""

    info: ModelInfo

    def features(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """Return (n, tokens, d) of n clips of `info.frames` frames, in their order."""
        ...


@dataclass(frozen=True)
class Detection:
    """An object that a detector found: a label, its score in 0..1, and (x0, y0, x1, y1) as shares of width and
    height."""

    label: str
    score: float
    box: tuple[float, float, float, float]


@runtime_checkable
class Detector(Protocol):
    info: ModelInfo

    def detect(self, frames: Frames) -> list[list[Detection]]:
        """Return the objects in each of the k frames, highest score first."""
        ...
