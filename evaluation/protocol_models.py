"""A model as a protocol asks for it: the adapter in a wrapper that pools frames or turns likelihood into perplexity.

The wrappers are adapters themselves, so that the scoring loop knows nothing of protocols.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, runtime_checkable
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.protocols import Protocol
from evaluation.scoring import Clip, ReadFrames, read_frames
from hub.interfaces import Embedder, Frames, ModelInfo, Score, ScoreKind, Scorer, VideoMeta
from media.errors import MediaError
from media.schedules import consecutive_frames, interval_frames

Rows = NDArray[np.float32]


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

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> Rows:
        return self.model.encode_video(clips, meta)

    def encode_text(self, texts: Sequence[str]) -> Rows:
        return self.model.encode_text(texts)

    def score(self, videos: Rows, texts: Rows) -> Rows:
        return self.pool(self.model.frame_logits(videos, texts))


def mean_of_logits(frames: Rows) -> Rows:
    """(n, k, m) -> (n, m): the mean of the match scores of the frames (ViLMA, appendix A)."""
    return frames.mean(axis=1)


def mean_of_softmax(frames: Rows) -> Rows:
    """(n, k, m) -> (n, m): on each frame a softmax over the m texts of one item, then the mean (the released code).

    E.g. logits (0, 0) and (ln 3, 0) on two frames: (.5 + .75) / 2 = .625 for the first text.
    """
    powers = np.exp(frames - frames.max(axis=2, keepdims=True))
    return (powers / powers.sum(axis=2, keepdims=True)).mean(axis=1).astype(np.float32)


class AsPerplexity:
    """A language model whose value is exp(-sum of log likelihood / tokens); lower is better."""

    def __init__(self, model: Scorer) -> None:
        self.model = model
        self.info = replace(model.info, kind=ScoreKind.PERPLEXITY)

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        return [self._perplexity(score) for score in self.model.score(clip, texts, mode, meta)]

    def _perplexity(self, score: Score) -> Score:
        value = math.exp(-score.parts["sum"] / max(score.parts["tokens"], 1.0))
        return Score(value, ScoreKind.PERPLEXITY, score.parts)


POOLS = {"mean": (mean_of_logits, ScoreKind.LOGIT), "softmax": (mean_of_softmax, ScoreKind.P_YES)}


def under_protocol(adapter: Any, protocol: Protocol) -> Embedder | Scorer:
    """The adapter as the protocol asks for it. EvaluationError: an image model that sees another number of frames."""
    if protocol.pooling in POOLS and isinstance(adapter, ByFrame):
        wanted = protocol.image_frames
        if wanted is not None and adapter.info.frames != wanted:
            raise EvaluationError(
                f"{protocol.label} shows image models {wanted} frames, and {adapter.info.model_id} takes "
                f"{adapter.info.frames}; name the model with ?frames={wanted}"
            )
        return PooledFrames(adapter, *POOLS[protocol.pooling])
    likely = adapter.info.kind == ScoreKind.LOG_LIKELIHOOD and not adapter.info.needs_video
    return AsPerplexity(adapter) if protocol.perplexity and likely else adapter


def scores_by_item(adapter: Any, protocol: Protocol) -> bool:
    """Whether the model's scores under the protocol depend on the item's other texts."""
    return protocol.by_item and isinstance(adapter, PooledFrames | ByFrame)


def reader(protocol: Protocol) -> ReadFrames:
    """How clips are decoded under the protocol; a model that asks for intervals (`interval_seconds`) gets those."""

    def read(clip: Clip, info: ModelInfo) -> tuple[Frames, VideoMeta]:
        seconds = info.card.get("interval_seconds")
        if clip.path is None or (not seconds and protocol.frames == "centres"):
            return read_frames(clip, info)
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
            found = interval_frames(clip.path, seconds, clip.start, clip.end, info.size)
        elif protocol.frames == "consecutive":
            found = consecutive_frames(clip.path, info.frames, clip.start, clip.end, info.size)
        else:
            raise MediaError(f"{clip.key}: {info.model_id} asks for intervals of {seconds!r} s; give a number above 0")
        return found.frames, VideoMeta(key=clip.key, times=tuple(float(time) for time in found.times))

    return read
