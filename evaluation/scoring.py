"""The scoring loop, pure: (clip, texts) in, raw values out. No Django; jobs hand it a shard and store what it yields.

Every clip is decoded and encoded once, every distinct text once, in batches of like length; values leave as they are
computed, clip batch by clip batch, so that a killed worker loses at most one. A clip that cannot be decoded, that the
model refuses, or whose value is no number is listed, and the others are scored.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np

from hub.errors import ClipError
from hub.interfaces import Embedder, Frames, ModelInfo, Scorer, VideoMeta
from media.errors import MediaError
from media.frames import sample_frames

CLIPS_A_BATCH = 16
TEXTS_A_BATCH = 128


@dataclass(frozen=True)
class Clip:
    """What is shown: `key` names it in scores; `start` and `end` in seconds trim the file, None = as far as it goes.

    `content`: the SHA-256 of the file's bytes where it is known, for what is kept by it.
    """

    key: str
    path: Path | None = None
    start: float | None = None
    end: float | None = None
    content: str = ""


@dataclass(frozen=True)
class PairScore:
    """One raw value. `clip_key` is None for a text-only model: its values hold for every clip."""

    clip_key: str | None
    text: str
    value: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass
class Tally:
    """What a run cost, filled in while it goes.

    `unreadable` lists (clip key, why) of clips that gave no frames, `refused` of those that the model failed on,
    `not_finite` (clip key or None, text, value) of values that are no numbers.
    """

    clips_encoded: int = 0
    texts_encoded: int = 0
    video_calls: int = 0
    text_calls: int = 0
    pairs: int = 0
    decode_seconds: float = 0.0
    compute_seconds: float = 0.0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    not_finite: list[tuple[str | None, str, float]] = field(default_factory=list)
    vectors_kept: int = 0


Thing = TypeVar("Thing")
ReadFrames = Callable[[Clip, ModelInfo], tuple[Frames, VideoMeta]]


def read_frames(clip: Clip, info: ModelInfo) -> tuple[Frames, VideoMeta]:
    """The frames that the model wants, at the centres of equal time bins (media.frames). MediaError: unusable file."""
    if clip.path is None:
        raise MediaError(f"{clip.key}: has no video file; attach it, then score again")
    frames, times = sample_frames(clip.path, info.frames, clip.start, clip.end, info.size)
    return frames, about(clip, times)


def about(clip: Clip, times: Iterable[float]) -> VideoMeta:
    """What an adapter is told of a clip beside its frames."""
    seconds = tuple(float(time) for time in times)
    return VideoMeta(clip.key, seconds, str(clip.path or ""), clip.start, clip.end)


class KeptVectors(Protocol):
    """Rows of clips that were encoded before."""

    def get(self, clip: Clip, info: ModelInfo) -> np.ndarray | None:
        """The clip's row of this model; None where it is not kept."""
        ...

    def put(self, clip: Clip, info: ModelInfo, row: np.ndarray) -> None: ...


def score_pairs(
    adapter: Embedder | Scorer,
    requests: Iterable[tuple[Clip, Sequence[str]]],
    *,
    tally: Tally | None = None,
    read: ReadFrames = read_frames,
    mode: str = "",
    clips_a_batch: int = CLIPS_A_BATCH,
    kept: KeptVectors | None = None,
) -> Iterator[PairScore]:
    """One PairScore for each distinct (clip key, text) of `requests`, which may name a clip several times.

    A text-only model (`info.needs_video` False) gives one for each distinct text, clip_key None. What gives no score
    is listed in `tally`. `read` is what decodes (or a cache before it); clips that `kept` has are not decoded.
    """
    counts = tally if tally is not None else Tally()
    wanted = _merged(requests)
    if isinstance(adapter, Embedder):
        scores = _by_embedding(adapter, wanted, read, clips_a_batch, counts, kept)
    elif adapter.info.needs_video:
        scores = _by_scorer(adapter, wanted, read, mode, counts)
    else:
        scores = _without_video(adapter, wanted, mode, counts)
    for score in scores:
        if not math.isfinite(score.value):
            counts.not_finite.append((score.clip_key, score.text, score.value))
            continue
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
    adapter: Embedder, wanted: list[_Wanted], read: ReadFrames, clips_a_batch: int, counts: Tally,
    kept: KeptVectors | None,
) -> Iterator[PairScore]:  # fmt: skip
    texts = _by_length(text for want in wanted for text in want.texts)
    place = {text: i for i, text in enumerate(texts)}
    encoded = _encode_texts(adapter, texts, counts)
    for batch in _batches(wanted, clips_a_batch):
        rows = dict(_rows(adapter, batch, read, counts, kept))
        began = perf_counter()
        # Each clip meets only its own texts, so that scores cost n, not n x n.
        values = {
            at: adapter.score(row[None], encoded[[place[text] for text in batch[at].texts]])[0]
            for at, row in sorted(rows.items())
        }
        counts.compute_seconds += perf_counter() - began
        for at, found in values.items():
            for text, value in zip(batch[at].texts, found, strict=True):
                yield PairScore(batch[at].clip.key, text, float(value))


def _rows(
    adapter: Embedder, batch: Sequence[_Wanted], read: ReadFrames, counts: Tally, kept: KeptVectors | None
) -> Iterator[tuple[int, np.ndarray]]:
    """(place in the batch, its row) of every clip that has one."""
    new: dict[str, int] = {}
    for at, want in enumerate(batch):
        row = kept.get(want.clip, adapter.info) if kept is not None else None
        if row is None:
            new[want.clip.key] = at
            continue
        counts.vectors_kept += 1
        yield at, row
    seen = list(_frames([batch[at] for at in new.values()], adapter.info, read, counts))
    began = perf_counter()
    for want, row in _encoded_clips(adapter, seen, counts):
        if kept is not None:
            kept.put(want.clip, adapter.info, row)
        yield new[want.clip.key], row
    counts.compute_seconds += perf_counter() - began


def _encoded_clips(
    adapter: Embedder, seen: Sequence[tuple[_Wanted, Frames, VideoMeta]], counts: Tally
) -> list[tuple[_Wanted, np.ndarray]]:
    """The clips together; where one of them cannot be taken, one by one, and that one is listed."""
    if not seen:
        return []
    try:
        counts.video_calls += 1
        rows = adapter.encode_video([frames for _, frames, _ in seen], [meta for _, _, meta in seen])
    except ClipError as error:
        if len(seen) == 1:
            counts.refused.append((seen[0][0].clip.key, str(error)))
            return []
        return [found for one in seen for found in _encoded_clips(adapter, [one], counts)]
    counts.clips_encoded += len(seen)
    return [(want, row) for (want, _, _), row in zip(seen, rows, strict=True)]


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
        try:
            counts.video_calls += 1
            scores = adapter.score(frames, texts, mode, meta)
        except ClipError as error:
            counts.refused.append((want.clip.key, str(error)))
            continue
        finally:
            counts.compute_seconds += perf_counter() - began
        counts.clips_encoded += 1
        counts.texts_encoded += len(texts)
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
