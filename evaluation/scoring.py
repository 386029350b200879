"""The scoring loop, pure: (clip, texts) in, raw values out. No Django; jobs hand it a shard and store what it yields.

Every clip is decoded and encoded once, every distinct text once, in batches of like length; values leave as they are
computed, clip batch by clip batch, so that a killed worker loses at most one.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

from evaluation.errors import EvaluationError
from hub.interfaces import Embedder, Frames, ModelInfo, Scorer, VideoMeta
from media.errors import MediaError
from media.frames import sample_frames

CLIPS_A_BATCH = 16
TEXTS_A_BATCH = 128


@dataclass(frozen=True)
class Clip:
    """What is shown: `key` names it in scores; `start` and `end` in seconds trim the file, None = as far as it goes."""

    key: str
    path: Path | None = None
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True)
class PairScore:
    """One raw value. `clip_key` is None for a text-only model: its values hold for every clip."""

    clip_key: str | None
    text: str
    value: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass
class Tally:
    """What a run cost, filled in while it goes; `unreadable` lists (clip key, why) of clips that gave no frames."""

    clips_encoded: int = 0
    texts_encoded: int = 0
    video_calls: int = 0
    text_calls: int = 0
    pairs: int = 0
    decode_seconds: float = 0.0
    compute_seconds: float = 0.0
    unreadable: list[tuple[str, str]] = field(default_factory=list)


Thing = TypeVar("Thing")
ReadFrames = Callable[[Clip, ModelInfo], tuple[Frames, VideoMeta]]


def read_frames(clip: Clip, info: ModelInfo) -> tuple[Frames, VideoMeta]:
    """The frames that the model wants, at the centres of equal time bins (media.frames). MediaError: unusable file."""
    if clip.path is None:
        raise MediaError(f"{clip.key}: has no video file; attach it, then score again")
    frames, times = sample_frames(clip.path, info.frames, clip.start, clip.end, info.size)
    return frames, VideoMeta(key=clip.key, times=tuple(float(t) for t in times))


def score_pairs(
    adapter: Embedder | Scorer,
    requests: Iterable[tuple[Clip, Sequence[str]]],
    *,
    tally: Tally | None = None,
    read: ReadFrames = read_frames,
    mode: str = "",
    clips_a_batch: int = CLIPS_A_BATCH,
) -> Iterator[PairScore]:
    """One PairScore for each distinct (clip key, text) of `requests`, which may name a clip several times.

    A text-only model (`info.needs_video` False) gives one for each distinct text, clip_key None. Clips whose frames
    cannot be read are left out and listed in `tally.unreadable`. `read` is what decodes (or a cache before it).
    EvaluationError: the model gave a value that is not finite, with the clip and the text.
    """
    counts = tally if tally is not None else Tally()
    wanted = _merged(requests)
    if isinstance(adapter, Embedder):
        scores = _by_embedding(adapter, wanted, read, clips_a_batch, counts)
    elif adapter.info.needs_video:
        scores = _by_scorer(adapter, wanted, read, mode, counts)
    else:
        scores = _without_video(adapter, wanted, mode, counts)
    for score in scores:
        if not math.isfinite(score.value):
            about = f"clip '{score.clip_key}', text '{score.text[:80]}'"
            raise EvaluationError(
                f"{adapter.info.model_id} gave {score.value} for {about}; check the model's weights and number format"
            )
        counts.pairs += 1
        yield score


@dataclass
class _Wanted:
    clip: Clip
    texts: dict[str, None]  # insertion-ordered set


def _merged(requests: Iterable[tuple[Clip, Sequence[str]]]) -> list[_Wanted]:
    """One entry a clip key, in the order of their first mention, with its distinct texts (at least one)."""
    merged: dict[str, _Wanted] = {}
    for clip, texts in requests:
        merged.setdefault(clip.key, _Wanted(clip, {})).texts.update(dict.fromkeys(texts))
    return [want for want in merged.values() if want.texts]


def _by_length(texts: Iterable[str]) -> list[str]:
    """Distinct texts, short ones first: a batch is padded to its longest."""
    return sorted(dict.fromkeys(texts), key=lambda text: (len(text.split()), len(text), text))


def _batches(things: Iterable[Thing], size: int) -> Iterator[tuple[Thing, ...]]:
    source = iter(things)
    while batch := tuple(islice(source, size)):
        yield batch


def _frames(
    wanted: Iterable[_Wanted], info: ModelInfo, read: ReadFrames, counts: Tally
) -> Iterator[tuple[_Wanted, Frames, VideoMeta]]:
    for want in wanted:
        began = perf_counter()
        try:
            frames, meta = read(want.clip, info)
        except MediaError as error:
            counts.unreadable.append((want.clip.key, str(error)))
            continue
        finally:
            counts.decode_seconds += perf_counter() - began
        yield want, frames, meta


def _by_embedding(
    adapter: Embedder, wanted: list[_Wanted], read: ReadFrames, clips_a_batch: int, counts: Tally
) -> Iterator[PairScore]:
    texts = _by_length(text for want in wanted for text in want.texts)
    place = {text: i for i, text in enumerate(texts)}
    encoded = _encode_texts(adapter, texts, counts)
    for batch in _batches(_frames(wanted, adapter.info, read, counts), clips_a_batch):
        began = perf_counter()
        videos = adapter.encode_video([frames for _, frames, _ in batch], [meta for _, _, meta in batch])
        # Each clip meets only its own texts, so that scores cost n, not n x n.
        values = [
            adapter.score(videos[i : i + 1], encoded[[place[text] for text in want.texts]])[0]
            for i, (want, _, _) in enumerate(batch)
        ]
        counts.video_calls += 1
        counts.clips_encoded += len(batch)
        counts.compute_seconds += perf_counter() - began
        for (want, _, _), row in zip(batch, values, strict=True):
            for text, value in zip(want.texts, row, strict=True):
                yield PairScore(want.clip.key, text, float(value))


def _encode_texts(adapter: Embedder, texts: list[str], counts: Tally) -> np.ndarray:
    began = perf_counter()
    rows = [adapter.encode_text(batch) for batch in _batches(texts, TEXTS_A_BATCH)]
    counts.text_calls += len(rows)
    counts.texts_encoded += len(texts)
    counts.compute_seconds += perf_counter() - began
    return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)


def _by_scorer(
    adapter: Scorer, wanted: list[_Wanted], read: ReadFrames, mode: str, counts: Tally
) -> Iterator[PairScore]:
    for want, frames, meta in _frames(wanted, adapter.info, read, counts):
        texts = _by_length(want.texts)
        began = perf_counter()
        scores = adapter.score(frames, texts, mode, meta)
        counts.video_calls += 1
        counts.clips_encoded += 1
        counts.texts_encoded += len(texts)
        counts.compute_seconds += perf_counter() - began
        for text, score in zip(texts, scores, strict=True):
            yield PairScore(want.clip.key, text, float(score.value), dict(score.parts))


def _without_video(adapter: Scorer, wanted: list[_Wanted], mode: str, counts: Tally) -> Iterator[PairScore]:
    for batch in _batches(_by_length(text for want in wanted for text in want.texts), TEXTS_A_BATCH):
        began = perf_counter()
        scores = adapter.score(None, batch, mode)
        counts.text_calls += 1
        counts.texts_encoded += len(batch)
        counts.compute_seconds += perf_counter() - began
        for text, score in zip(batch, scores, strict=True):
            yield PairScore(None, text, float(score.value), dict(score.parts))
