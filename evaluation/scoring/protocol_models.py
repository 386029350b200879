"""Wrap a model as a protocol queries it: an adapter that pools frames or turns likelihood into perplexity.

The wrappers are adapters themselves, so the scoring loop does not depend on protocols.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, runtime_checkable
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.scoring.fetching import Clip, ReadFrames, about
from evaluation.scoring.protocols import Protocol
from foilworks.core.hub.interfaces import (
    Embedder,
    EncodesByFrame,
    Frames,
    LimitsTexts,
    ModelInfo,
    Score,
    ScoreKind,
    Scorer,
    Shrinks,
    TextRead,
    VideoMeta,
)
from foilworks.core.hub.shown_frames import sampling_of
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frame_cache import ClipRequest, FrameCache
from foilworks.core.media.sampling import CENTRES, CONSECUTIVE, Sampling

Rows = NDArray[np.float32]
# Nats per token whose exponential overflows a float: such a score is listed as not a number.
MAX_COST = 700.0


@runtime_checkable
class ByFrame(Interface):
    """An image-text model whose single frames can be scored: (n, k, d) and (m, d) -> (n, k, m) logits."""

    info: ModelInfo

    def frame_logits(self, videos: Rows, texts: Rows) -> Rows: ...


class PooledFrames:
    """An image-text model whose frames' logits are pooled as a protocol says."""

    def __init__(self, model: Any, pool: Callable[[Rows], Rows], kind: ScoreKind) -> None:
        self.model, self.pool = model, pool
        self.info = replace(model.info, kind=kind)
        self.encodes_by_frame: bool = isinstance(model, EncodesByFrame) and model.encodes_by_frame

    def shrink(self, frames: Frames) -> Frames:
        return self.model.shrink(frames) if isinstance(self.model, Shrinks) else frames

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> Rows:
        return self.model.encode_video(clips, meta)

    def encode_text(self, texts: Sequence[str]) -> Rows:
        return self.model.encode_text(texts)

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead] | None:
        return self.model.at_limit(texts) if isinstance(self.model, LimitsTexts) else None

    def score(self, videos: Rows, texts: Rows) -> Rows:
        return self.pool(self.model.frame_logits(videos, texts))


def mean_of_logits(frames: Rows) -> Rows:
    """Compute (n, k, m) -> (n, m): the mean of the match scores of the frames (ViLMA, Sec. A.4)."""
    return frames.mean(axis=1)


def mean_of_softmax(frames: Rows) -> Rows:
    """Compute (n, k, m) -> (n, m): per frame a softmax over the m texts of one item, then the mean (the released code).

    E.g. logits (0, 0) and (ln 3, 0) on two frames: (.5 + .75) / 2 = .625 for the first text.
    """
    powers = np.exp(frames - frames.max(axis=2, keepdims=True))
    return (powers / powers.sum(axis=2, keepdims=True)).mean(axis=1).astype(np.float32)


@runtime_checkable
class AsTokenized(Interface):
    """A language model that can omit the start token which it adds where its own tokenizer adds none."""

    info: ModelInfo

    def score_as_tokenized(self, texts: Sequence[str]) -> list[Score]: ...

    def at_limit(self, texts: Sequence[str], *, as_tokenized: bool = False) -> dict[str, TextRead]: ...


class AsPerplexity:
    """A language model whose value is exp(-sum of log likelihood / tokens); lower is better.

    `own_tokens`: tokenize the texts with the model's own tokenizer, if it supports that.
    """

    def __init__(self, model: Scorer, *, own_tokens: bool = False) -> None:
        self.model, self.own_tokens = model, own_tokens
        self.info = replace(model.info, kind=ScoreKind.PERPLEXITY)

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        if self.own_tokens and isinstance(self.model, AsTokenized):
            scores = self.model.score_as_tokenized(texts)
        else:
            scores = self.model.score(clip, texts, mode, meta)
        return [self._perplexity(score) for score in scores]

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead] | None:
        if self.own_tokens and isinstance(self.model, AsTokenized):
            return self.model.at_limit(texts, as_tokenized=True)
        return self.model.at_limit(texts) if isinstance(self.model, LimitsTexts) else None

    def _perplexity(self, score: Score) -> Score:
        cost = -score.parts["sum"] / max(score.parts["tokens"], 1.0)
        value = math.inf if cost > MAX_COST else math.exp(cost)
        return Score(value, ScoreKind.PERPLEXITY, score.parts)


POOLS = {"mean": (mean_of_logits, ScoreKind.LOGIT), "softmax": (mean_of_softmax, ScoreKind.P_YES)}


def under_protocol(adapter: Any, protocol: Protocol) -> Embedder | Scorer:
    """Wrap the adapter as the protocol queries it. EvaluationError: an image model with a different number of
    frames."""
    if protocol.pooling in POOLS and isinstance(adapter, ByFrame):
        n_frames = protocol.image_frames
        if n_frames is not None and adapter.info.frames != n_frames:
            raise EvaluationError(
                f"{protocol.label} shows image models {n_frames} frames, but {adapter.info.model_id} takes "
                f"{adapter.info.frames}; add to the model name: ?frames={n_frames}"
            )
        return PooledFrames(adapter, *POOLS[protocol.pooling])
    likely = adapter.info.kind == ScoreKind.LOG_LIKELIHOOD and not adapter.info.needs_video
    return AsPerplexity(adapter, own_tokens=protocol.own_tokens) if protocol.perplexity and likely else adapter


def scores_by_item(adapter: Any, protocol: Protocol) -> bool:
    """Report whether the model's scores under the protocol depend on the item's other texts."""
    return adapter.info.by_item or (protocol.by_item and isinstance(adapter, PooledFrames | ByFrame))


def sampling(protocol: Protocol, info: ModelInfo) -> Sampling:
    """Return the frames that models see under the protocol. MediaError as `sampling_of`."""
    return sampling_of(info, CONSECUTIVE if protocol.frames == "consecutive" else CENTRES)


def clip_request(clip: Clip, path: PathLike[str], protocol: Protocol, info: ModelInfo) -> ClipRequest:
    """Return the frames of the clip that the model reads under the protocol."""
    return ClipRequest(path, sampling(protocol, info), clip.start, clip.end, info.size, clip.content)


@dataclass(frozen=True)
class FrameReader:
    """Decodes clips as a protocol says, or finds them in `frames`; it can be sent to another process."""

    protocol: Protocol
    frames: FrameCache

    def __call__(self, clip: Clip, info: ModelInfo) -> tuple[Frames, VideoMeta]:
        if clip.path is None:
            raise MediaError(f"{clip.key}: has no video file; attach it, then score again")
        sample = self.frames.read(clip_request(clip, clip.path, self.protocol, info))
        return sample.frames, about(clip, sample.times, sample.seconds)


def reader(protocol: Protocol, frames: FrameCache | None = None) -> ReadFrames:
    """Return how clips are decoded under the protocol, or found in `frames`."""
    return FrameReader(protocol, FrameCache() if frames is None else frames)
