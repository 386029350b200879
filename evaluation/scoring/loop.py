"""Run the scoring loop, pure: (clip, texts) in, raw values out. No Django; jobs give it a shard and store what it
yields.

Every clip is decoded once, each distinct view of it and every distinct text is encoded once, in batches of similar
length. Values are yielded as
they are computed, clip batch by clip batch, so a killed worker loses at most one. A pool decodes ahead of the model. A
clip that cannot be decoded, that the model refuses, or whose value is not a number is listed, and the others are
scored. If the device runs out of memory, batches are halved from then on.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from evaluation.scoring.fetching import (
    Clip,
    ClipTexts,
    Fetched,
    Fetcher,
    ReadFrames,
    StoredVectors,
    by_source,
    in_batches,
    merged,
    read_frames,
)
from evaluation.scoring.rungs import BLANK
from foilworks.core.hub.contract import rows_of, scores_of, similarities
from foilworks.core.hub.errors import ClipError
from foilworks.core.hub.interfaces import Embedder, EncodesByFrame, Scorer, ScoresWithoutClip, Shrinks
from foilworks.core.hub.loaded_model import ran_out_of_memory, release_memory
from foilworks.core.media.decode_pool import DecodePool
from foilworks.core.text.batches import batched

CLIPS_PER_BATCH = 16
TEXTS_PER_BATCH = 128
# For models that take one clip at a time: number of clips to decode ahead.
CLIPS_AHEAD = 4
# The outcome of an answer that cannot be read.
UNPARSABLE = "unparsable"
TOO_LARGE = "it does not fit into the memory of the device, even alone; use fewer frames or a smaller number format"


@dataclass(frozen=True)
class PairScore:
    """One raw value. `clip_key` is None for a text-only model: its values hold for every clip. `why`: why the answer
    cannot be read, and so has no value."""

    clip_key: str | None
    text: str
    value: float
    components: dict[str, float] = field(default_factory=dict)
    why: str = ""


@dataclass
class ScoringCounts:
    """The cost of a run, filled in during the run.

    `decode_seconds` are those of all decoders together, `wait_seconds` those that the model waited for them. `halved`
    {"clips" or "texts": batch size after the memory ran out}. `unreadable` lists (clip key, why) of clips that gave no
    frames, `refused` of those that the model failed on, `not_finite` (clip key or None, text, value) of values that are
    not numbers, `unanswered` (clip key, text, outcome, why) of texts about which the model gave no readable answer.
    """

    clips_decoded: int = 0
    clips_encoded: int = 0
    texts_encoded: int = 0
    video_calls: int = 0
    text_calls: int = 0
    pairs: int = 0
    decode_seconds: float = 0.0
    wait_seconds: float = 0.0
    compute_seconds: float = 0.0
    halved: dict[str, int] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    not_finite: list[tuple[str | None, str, float]] = field(default_factory=list)
    unanswered: list[tuple[str, str, str, str]] = field(default_factory=list)
    vectors_kept: int = 0


Row = TypeVar("Row")


def score_pairs(
    adapter: Embedder | Scorer,
    requests: Iterable[tuple[Clip, Sequence[str]]],
    *,
    tally: ScoringCounts | None = None,
    read: ReadFrames = read_frames,
    mode: str = "",
    clips_a_batch: int = CLIPS_PER_BATCH,
    vector_cache: StoredVectors | None = None,
    pool: DecodePool | None = None,
) -> Iterator[PairScore]:
    """Yield one PairScore for each distinct (clip key, text) of `requests`, which may name a clip several times.

    A text-only model (`info.needs_video` False) gives one for each distinct text, clip_key None. Pairs without a score
    are listed in `tally`. `read` decodes (or a cache before it); clips in `vector_cache` are not decoded. `pool` reads
    ahead; without one, each clip is read in turn. Values do not depend on either.
    """
    counts = tally if tally is not None else ScoringCounts()
    clip_requests, pool = merged(requests), pool or DecodePool(0)
    if isinstance(adapter, Embedder):
        scores = _by_embedding(adapter, clip_requests, read, clips_a_batch, counts, vector_cache, pool)
    elif adapter.info.needs_video:
        scores = _by_scorer(adapter, clip_requests, read, mode, counts, pool)
    else:
        scores = _without_video(adapter, clip_requests, mode, counts)
    for score in scores:
        if score.why:
            counts.unanswered.append((score.clip_key or "", score.text, UNPARSABLE, score.why))
            continue
        if not math.isfinite(score.value):
            counts.not_finite.append((score.clip_key, score.text, score.value))
            continue
        counts.pairs += 1
        yield score


def all_pairs(
    adapter: Embedder,
    clips: Iterable[Clip],
    texts: Sequence[str],
    *,
    read: ReadFrames = read_frames,
    vector_cache: StoredVectors | None = None,
    pool: DecodePool | None = None,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (clip key, its values with all texts, in their order). Clips without frames are left out.

    Each text and each clip is encoded once; nothing but one row of values is in memory.
    """
    counts, pool = ScoringCounts(), pool or DecodePool(0)
    encoded = _encode_texts(adapter, list(texts), counts)
    fetched = _fetched(
        adapter, [ClipTexts(clip, {}) for clip in clips], read, counts, pool, vector_cache, 2 * CLIPS_PER_BATCH
    )
    for batch in in_batches(fetched, CLIPS_PER_BATCH):
        for at, row in sorted(_rows(adapter, batch, counts, vector_cache).items()):
            for clip_request in batch[at].wants:
                yield clip_request.clip.key, similarities(adapter, batch[at].row_of(clip_request, row), encoded)


def _by_length(texts: Iterable[str]) -> list[str]:
    """Return distinct texts, short ones first: a batch is padded to its longest."""
    return sorted(dict.fromkeys(texts), key=lambda text: (len(text.split()), len(text), text))


def _fetched(
    adapter: Embedder | Scorer,
    clip_requests: Iterable[ClipTexts],
    read: ReadFrames,
    counts: ScoringCounts,
    pool: DecodePool,
    vector_cache: StoredVectors | None,
    depth: int,
) -> Iterator[list[Fetched]]:
    """Yield the views of every clip in order, with their rows or frames; those without either are listed."""
    shrink = adapter.shrink if isinstance(adapter, Shrinks) else None
    fetch = Fetcher(adapter.info, read, vector_cache, shrink, encodes_by_frame(adapter), blind=scores_blind(adapter))
    for _, wait in pool.ahead(by_source(clip_requests), fetch, depth):
        began = perf_counter()
        views = wait()
        waited = perf_counter() - began
        # Without a pool, the model's own thread decodes, which does not count as waiting.
        counts.wait_seconds += waited if pool.workers else 0.0
        for view in views:
            counts.decode_seconds += view.seconds
            counts.clips_decoded += view.decoded
            counts.vectors_kept += view.row is not None
            if view.why:
                counts.unreadable += [(clip_request.clip.key, view.why) for clip_request in view.wants]
        yield views


def scores_blind(adapter: Any) -> bool:
    """Report whether the model is asked without a clip where none is shown, instead of with grey frames."""
    return isinstance(adapter, ScoresWithoutClip) and adapter.scores_without_clip


def encodes_by_frame(adapter: Any) -> bool:
    return isinstance(adapter, Embedder) and isinstance(adapter, EncodesByFrame) and adapter.encodes_by_frame


def _by_embedding(
    adapter: Embedder,
    clip_requests: list[ClipTexts],
    read: ReadFrames,
    clips_a_batch: int,
    counts: ScoringCounts,
    vector_cache: StoredVectors | None,
    pool: DecodePool,
) -> Iterator[PairScore]:
    texts = _by_length(text for clip_request in clip_requests for text in clip_request.texts)
    row_by_text = {text: i for i, text in enumerate(texts)}
    encoded = _encode_texts(adapter, texts, counts)
    fetched = _fetched(adapter, clip_requests, read, counts, pool, vector_cache, 2 * clips_a_batch)
    for batch in in_batches(fetched, clips_a_batch):
        began = perf_counter()
        rows = _rows(adapter, batch, counts, vector_cache)
        # Each clip is paired only with its own texts, so that scores cost n, not n x n.
        values = [
            (
                clip_request,
                similarities(
                    adapter,
                    batch[at].row_of(clip_request, row),
                    encoded[[row_by_text[text] for text in clip_request.texts]],
                ),
            )
            for at, row in sorted(rows.items())
            for clip_request in batch[at].wants
        ]
        counts.compute_seconds += perf_counter() - began
        for clip_request, clip_values in values:
            for text, value in zip(clip_request.texts, clip_values, strict=True):
                yield PairScore(clip_request.clip.key, text, float(value))


def _rows(
    adapter: Embedder, batch: Sequence[Fetched], counts: ScoringCounts, vector_cache: StoredVectors | None
) -> dict[int, np.ndarray]:
    """Return index in the batch -> its row, for every clip that has one."""
    rows = {at: view.row for at, view in enumerate(batch) if view.row is not None}
    new = [at for at, view in enumerate(batch) if view.frames is not None]
    for some in batched(new, min(len(new), counts.halved.get("clips", len(new))) or 1):
        for at, row in _encoded_clips(adapter, some, batch, counts):
            rows[at] = row
            for clip in batch[at].clips if vector_cache is not None else ():
                assert vector_cache is not None
                vector_cache.put(clip, adapter.info, row)
    return rows


def _encoded_clips(
    adapter: Embedder, indices: Sequence[int], batch: Sequence[Fetched], counts: ScoringCounts
) -> list[tuple[int, np.ndarray]]:
    """Encode the clips at the indices together; one by one if one of them cannot be encoded, which is listed; in halves
    if they do not fit.
    """
    clips, metas = [batch[at].shown for at in indices], [batch[at].meta for at in indices]
    try:
        counts.video_calls += 1
        rows = adapter.encode_video(clips, metas)  # type: ignore[arg-type]
    except ClipError as error:
        if len(indices) == 1:
            counts.refused += _refused(batch[indices[0]], str(error))
            return []
        smaller_batches = [[at] for at in indices]
    except (MemoryError, RuntimeError) as error:
        if not ran_out_of_memory(error):
            raise
        if len(indices) == 1:
            counts.refused += _refused(batch[indices[0]], TOO_LARGE)
        smaller_batches = _halves(indices, "clips", counts)
    else:
        counts.clips_encoded += len(indices)
        return list(zip(indices, rows_of(adapter.info, "encode_video", rows, len(indices), "clip"), strict=True))
    release_memory()
    return [
        encoded_clip
        for smaller_batch in smaller_batches
        for encoded_clip in _encoded_clips(adapter, smaller_batch, batch, counts)
    ]


def _refused(view: Fetched, why: str) -> list[tuple[str, str]]:
    return [(clip_request.clip.key, why) for clip_request in view.wants]


def _halves(rows: Sequence[Row], unit: str, counts: ScoringCounts) -> list[Sequence[Row]]:
    """Split into two halves, noted for later batches; a single one cannot be split."""
    half = len(rows) // 2
    if not half:
        return []
    counts.halved[unit] = min(half, counts.halved.get(unit, half))
    return [rows[:half], rows[half:]]


def _encode_texts(adapter: Embedder, texts: list[str], counts: ScoringCounts) -> np.ndarray:
    began = perf_counter()
    rows = _of_texts(
        lambda batch: rows_of(adapter.info, "encode_text", adapter.encode_text(batch), len(batch), "text"),
        texts,
        counts,
    )
    counts.texts_encoded += len(texts)
    counts.compute_seconds += perf_counter() - began
    return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)


def _of_texts(ask: Callable[[Sequence[str]], Any], texts: Sequence[str], counts: ScoringCounts) -> list[Any]:
    """Return what `ask` gives for batches of the texts, in their order; smaller batches after the memory ran out."""
    answers: list[Any] = []
    pending_batches = list(batched(texts, TEXTS_PER_BATCH))[::-1]
    while pending_batches:
        batch = pending_batches.pop()
        most = counts.halved.get("texts", len(batch))
        if len(batch) > most:
            pending_batches += list(batched(batch, most))[::-1]
            continue
        try:
            counts.text_calls += 1
            answers.append(ask(batch))
        except (MemoryError, RuntimeError) as error:
            if not ran_out_of_memory(error) or len(batch) == 1:
                raise
            pending_batches += [tuple(half) for half in _halves(batch, "texts", counts)][::-1]
        else:
            continue
        release_memory()
    return answers


def _by_scorer(
    adapter: Scorer,
    clip_requests: list[ClipTexts],
    read: ReadFrames,
    mode: str,
    counts: ScoringCounts,
    pool: DecodePool,
) -> Iterator[PairScore]:
    for views in _fetched(adapter, clip_requests, read, counts, pool, None, CLIPS_AHEAD):
        for view in views:
            for wants in [] if view.why else _asked_together(adapter, view):
                yield from _of_view(adapter, replace(view, wants=wants), mode, counts)


def _asked_together(adapter: Scorer, view: Fetched) -> list[list[ClipTexts]]:
    """Split views that show the same: if scores depend on each other, only equal sets of texts are asked together."""
    first = view.wants[0]
    if not adapter.info.by_item and first.clip.view == BLANK:
        # Without a clip, these are the texts of a whole release.
        return [
            [ClipTexts(first.clip, dict.fromkeys(some))] for some in batched(_by_length(first.texts), TEXTS_PER_BATCH)
        ]
    if not adapter.info.by_item:
        return [list(view.wants)]
    groups: dict[frozenset[str], list[ClipTexts]] = {}
    for clip_request in view.wants:
        groups.setdefault(frozenset(clip_request.texts), []).append(clip_request)
    return list(groups.values())


def _of_view(adapter: Scorer, view: Fetched, mode: str, counts: ScoringCounts) -> Iterator[PairScore]:
    texts = _by_length(text for clip_request in view.wants for text in clip_request.texts)
    began = perf_counter()
    try:
        counts.video_calls += 1
        scores = dict(zip(texts, _scored(adapter, view, texts, mode, counts), strict=True))
    except ClipError as error:
        counts.refused += _refused(view, str(error))
        return
    except (MemoryError, RuntimeError) as error:
        if not ran_out_of_memory(error):
            raise
        counts.refused += _refused(view, TOO_LARGE)
        return
    finally:
        counts.compute_seconds += perf_counter() - began
    counts.clips_encoded += 1
    counts.texts_encoded += len(texts)
    for clip_request in view.wants:
        for text in _by_length(clip_request.texts):
            score = scores[text]
            yield PairScore(clip_request.clip.key, text, float(score.value), dict(score.parts), score.why)


def _scored(adapter: Scorer, view: Fetched, texts: Sequence[str], mode: str, counts: ScoringCounts) -> list[Any]:
    """Score all texts of the clip at once, or in halves if they do not fit and do not depend on each other."""
    most = counts.halved.get("texts", len(texts))
    if adapter.info.by_item or len(texts) <= 1:
        return _answers(adapter, view, texts, mode)
    if len(texts) > most:
        text_batches = list(batched(texts, most))
    else:
        try:
            return _answers(adapter, view, texts, mode)
        except (MemoryError, RuntimeError) as error:
            if not ran_out_of_memory(error):
                raise
            text_batches = [tuple(half) for half in _halves(texts, "texts", counts)]
        release_memory()
    return [score for text_batch in text_batches for score in _scored(adapter, view, text_batch, mode, counts)]


def _answers(adapter: Scorer, view: Fetched, texts: Sequence[str], mode: str) -> list[Any]:
    if view.is_empty:
        assert isinstance(adapter, ScoresWithoutClip)
        before = view.meta.before if view.meta else ""
        return scores_of(adapter.info, adapter.score_without_clip(texts, mode, before), texts)
    return scores_of(adapter.info, adapter.score(view.shown, texts, mode, view.meta), texts)


def _without_video(
    adapter: Scorer, clip_requests: list[ClipTexts], mode: str, counts: ScoringCounts
) -> Iterator[PairScore]:
    for texts in batched(
        _by_length(text for clip_request in clip_requests for text in clip_request.texts), TEXTS_PER_BATCH
    ):
        began = perf_counter()
        answers = _of_texts(
            lambda batch: scores_of(adapter.info, adapter.score(None, batch, mode), batch), texts, counts
        )
        counts.texts_encoded += len(texts)
        counts.compute_seconds += perf_counter() - began
        for text, score in zip(texts, (score for batch in answers for score in batch), strict=True):
            yield PairScore(None, text, float(score.value), dict(score.parts))
