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
    Fetched,
    Fetcher,
    KeptVectors,
    ReadFrames,
    Wanted,
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
TOO_LARGE = "it does not fit into the memory of the device, even alone; use fewer frames or a smaller number format"


@dataclass(frozen=True)
class PairScore:
    """One raw value. `clip_key` is None for a text-only model: its values hold for every clip."""

    clip_key: str | None
    text: str
    value: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass
class ScoringCounts:
    """The cost of a run, filled in during the run.

    `decode_seconds` are those of all decoders together, `wait_seconds` those that the model waited for them. `halved`
    {"clips" or "texts": batch size after the memory ran out}. `unreadable` lists (clip key, why) of clips that gave no
    frames, `refused` of those that the model failed on, `not_finite` (clip key or None, text, value) of values that are
    not numbers, `unanswered` (clip key, text, outcome, why) of texts about which a served model gave no answer.
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


Thing = TypeVar("Thing")


def score_pairs(
    adapter: Embedder | Scorer,
    requests: Iterable[tuple[Clip, Sequence[str]]],
    *,
    tally: ScoringCounts | None = None,
    read: ReadFrames = read_frames,
    mode: str = "",
    clips_a_batch: int = CLIPS_PER_BATCH,
    kept: KeptVectors | None = None,
    pool: DecodePool | None = None,
) -> Iterator[PairScore]:
    """Yield one PairScore for each distinct (clip key, text) of `requests`, which may name a clip several times.

    A text-only model (`info.needs_video` False) gives one for each distinct text, clip_key None. Pairs without a score
    are listed in `tally`. `read` decodes (or a cache before it); clips in `kept` are not decoded. `pool` reads ahead;
    without one, each clip is read in turn. Values do not depend on either.
    """
    counts = tally if tally is not None else ScoringCounts()
    wanted, pool = merged(requests), pool or DecodePool(0)
    if isinstance(adapter, Embedder):
        scores = _by_embedding(adapter, wanted, read, clips_a_batch, counts, kept, pool)
    elif adapter.info.needs_video:
        scores = _by_scorer(adapter, wanted, read, mode, counts, pool)
    else:
        scores = _without_video(adapter, wanted, mode, counts)
    for score in scores:
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
    kept: KeptVectors | None = None,
    pool: DecodePool | None = None,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (clip key, its values with all texts, in their order). Clips without frames are left out.

    Each text and each clip is encoded once; nothing but one row of values is in memory.
    """
    counts, pool = ScoringCounts(), pool or DecodePool(0)
    encoded = _encode_texts(adapter, list(texts), counts)
    fetched = _fetched(adapter, [Wanted(clip, {}) for clip in clips], read, counts, pool, kept, 2 * CLIPS_PER_BATCH)
    for batch in in_batches(fetched, CLIPS_PER_BATCH):
        for at, row in sorted(_rows(adapter, batch, counts, kept).items()):
            for want in batch[at].wants:
                yield want.clip.key, similarities(adapter, batch[at].row_of(want, row), encoded)


def _by_length(texts: Iterable[str]) -> list[str]:
    """Return distinct texts, short ones first: a batch is padded to its longest."""
    return sorted(dict.fromkeys(texts), key=lambda text: (len(text.split()), len(text), text))


def _fetched(
    adapter: Embedder | Scorer,
    wanted: Iterable[Wanted],
    read: ReadFrames,
    counts: ScoringCounts,
    pool: DecodePool,
    kept: KeptVectors | None,
    depth: int,
) -> Iterator[list[Fetched]]:
    """Yield the views of every clip in order, with their rows or frames; those without either are listed."""
    shrink = adapter.shrink if isinstance(adapter, Shrinks) else None
    fetch = Fetcher(adapter.info, read, kept, shrink, encodes_by_frame(adapter), blind=scores_blind(adapter))
    for _, wait in pool.ahead(by_source(wanted), fetch, depth):
        began = perf_counter()
        views = wait()
        waited = perf_counter() - began
        # Without a pool, the model's own thread decodes, which does not count as waiting.
        counts.wait_seconds += waited if pool.workers else 0.0
        for found in views:
            counts.decode_seconds += found.seconds
            counts.clips_decoded += found.decoded
            counts.vectors_kept += found.row is not None
            if found.why:
                counts.unreadable += [(want.clip.key, found.why) for want in found.wants]
        yield views


def scores_blind(adapter: Any) -> bool:
    """Report whether the model is asked without a clip where none is shown, instead of with grey frames."""
    return isinstance(adapter, ScoresWithoutClip) and adapter.scores_without_clip


def encodes_by_frame(adapter: Any) -> bool:
    return isinstance(adapter, Embedder) and isinstance(adapter, EncodesByFrame) and adapter.encodes_by_frame


def _by_embedding(
    adapter: Embedder,
    wanted: list[Wanted],
    read: ReadFrames,
    clips_a_batch: int,
    counts: ScoringCounts,
    kept: KeptVectors | None,
    pool: DecodePool,
) -> Iterator[PairScore]:
    texts = _by_length(text for want in wanted for text in want.texts)
    place = {text: i for i, text in enumerate(texts)}
    encoded = _encode_texts(adapter, texts, counts)
    fetched = _fetched(adapter, wanted, read, counts, pool, kept, 2 * clips_a_batch)
    for batch in in_batches(fetched, clips_a_batch):
        began = perf_counter()
        rows = _rows(adapter, batch, counts, kept)
        # Each clip is paired only with its own texts, so that scores cost n, not n x n.
        values = [
            (want, similarities(adapter, batch[at].row_of(want, row), encoded[[place[text] for text in want.texts]]))
            for at, row in sorted(rows.items())
            for want in batch[at].wants
        ]
        counts.compute_seconds += perf_counter() - began
        for want, found in values:
            for text, value in zip(want.texts, found, strict=True):
                yield PairScore(want.clip.key, text, float(value))


def _rows(
    adapter: Embedder, batch: Sequence[Fetched], counts: ScoringCounts, kept: KeptVectors | None
) -> dict[int, np.ndarray]:
    """Return index in the batch -> its row, for every clip that has one."""
    rows = {at: found.row for at, found in enumerate(batch) if found.row is not None}
    new = [at for at, found in enumerate(batch) if found.frames is not None]
    for some in batched(new, min(len(new), counts.halved.get("clips", len(new))) or 1):
        for at, row in _encoded_clips(adapter, some, batch, counts):
            rows[at] = row
            for clip in batch[at].clips if kept is not None else ():
                assert kept is not None
                kept.put(clip, adapter.info, row)
    return rows


def _encoded_clips(
    adapter: Embedder, places: Sequence[int], batch: Sequence[Fetched], counts: ScoringCounts
) -> list[tuple[int, np.ndarray]]:
    """Encode the clips at the indices together; one by one if one of them cannot be encoded, which is listed; in halves
    if they do not fit.
    """
    clips, metas = [batch[at].shown for at in places], [batch[at].meta for at in places]
    try:
        counts.video_calls += 1
        rows = adapter.encode_video(clips, metas)  # type: ignore[arg-type]
    except ClipError as error:
        if len(places) == 1:
            counts.refused += _refused(batch[places[0]], str(error))
            return []
        parts = [[at] for at in places]
    except (MemoryError, RuntimeError) as error:
        if not ran_out_of_memory(error):
            raise
        if len(places) == 1:
            counts.refused += _refused(batch[places[0]], TOO_LARGE)
        parts = _halves(places, "clips", counts)
    else:
        counts.clips_encoded += len(places)
        return list(zip(places, rows_of(adapter.info, "encode_video", rows, len(places), "clip"), strict=True))
    release_memory()
    return [found for part in parts for found in _encoded_clips(adapter, part, batch, counts)]


def _refused(found: Fetched, why: str) -> list[tuple[str, str]]:
    return [(want.clip.key, why) for want in found.wants]


def _halves(things: Sequence[Thing], what: str, counts: ScoringCounts) -> list[Sequence[Thing]]:
    """Split into two halves, noted for later batches; a single one cannot be split."""
    half = len(things) // 2
    if not half:
        return []
    counts.halved[what] = min(half, counts.halved.get(what, half))
    return [things[:half], things[half:]]


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
    left = list(batched(texts, TEXTS_PER_BATCH))[::-1]
    while left:
        batch = left.pop()
        most = counts.halved.get("texts", len(batch))
        if len(batch) > most:
            left += list(batched(batch, most))[::-1]
            continue
        try:
            counts.text_calls += 1
            answers.append(ask(batch))
        except (MemoryError, RuntimeError) as error:
            if not ran_out_of_memory(error) or len(batch) == 1:
                raise
            left += [tuple(half) for half in _halves(batch, "texts", counts)][::-1]
        else:
            continue
        release_memory()
    return answers


def _by_scorer(
    adapter: Scorer, wanted: list[Wanted], read: ReadFrames, mode: str, counts: ScoringCounts, pool: DecodePool
) -> Iterator[PairScore]:
    for views in _fetched(adapter, wanted, read, counts, pool, None, CLIPS_AHEAD):
        for found in views:
            for wants in [] if found.why else _asked_together(adapter, found):
                yield from _of_view(adapter, replace(found, wants=wants), mode, counts)


def _asked_together(adapter: Scorer, found: Fetched) -> list[list[Wanted]]:
    """Split views that show the same: if scores depend on each other, only equal sets of texts are asked together."""
    first = found.wants[0]
    if not adapter.info.by_item and first.clip.view == BLANK:
        # Without a clip, these are the texts of a whole release.
        return [[Wanted(first.clip, dict.fromkeys(some))] for some in batched(_by_length(first.texts), TEXTS_PER_BATCH)]
    if not adapter.info.by_item:
        return [list(found.wants)]
    groups: dict[frozenset[str], list[Wanted]] = {}
    for want in found.wants:
        groups.setdefault(frozenset(want.texts), []).append(want)
    return list(groups.values())


def _of_view(adapter: Scorer, found: Fetched, mode: str, counts: ScoringCounts) -> Iterator[PairScore]:
    texts = _by_length(text for want in found.wants for text in want.texts)
    began = perf_counter()
    try:
        counts.video_calls += 1
        scores = dict(zip(texts, _scored(adapter, found, texts, mode, counts), strict=True))
    except ClipError as error:
        counts.refused += _refused(found, str(error))
        return
    except (MemoryError, RuntimeError) as error:
        if not ran_out_of_memory(error):
            raise
        counts.refused += _refused(found, TOO_LARGE)
        return
    finally:
        counts.compute_seconds += perf_counter() - began
    counts.clips_encoded += 1
    counts.texts_encoded += len(texts)
    for want in found.wants:
        for text in _by_length(want.texts):
            yield PairScore(want.clip.key, text, float(scores[text].value), dict(scores[text].parts))


def _scored(adapter: Scorer, found: Fetched, texts: Sequence[str], mode: str, counts: ScoringCounts) -> list[Any]:
    """Score all texts of the clip at once, or in halves if they do not fit and do not depend on each other."""
    most = counts.halved.get("texts", len(texts))
    if adapter.info.by_item or len(texts) <= 1:
        return _answers(adapter, found, texts, mode)
    if len(texts) > most:
        parts = list(batched(texts, most))
    else:
        try:
            return _answers(adapter, found, texts, mode)
        except (MemoryError, RuntimeError) as error:
            if not ran_out_of_memory(error):
                raise
            parts = [tuple(half) for half in _halves(texts, "texts", counts)]
        release_memory()
    return [score for part in parts for score in _scored(adapter, found, part, mode, counts)]


def _answers(adapter: Scorer, found: Fetched, texts: Sequence[str], mode: str) -> list[Any]:
    if found.is_empty:
        assert isinstance(adapter, ScoresWithoutClip)
        return scores_of(adapter.info, adapter.score_without_clip(texts, mode), texts)
    return scores_of(adapter.info, adapter.score(found.shown, texts, mode, found.meta), texts)


def _without_video(adapter: Scorer, wanted: list[Wanted], mode: str, counts: ScoringCounts) -> Iterator[PairScore]:
    for texts in batched(_by_length(text for want in wanted for text in want.texts), TEXTS_PER_BATCH):
        began = perf_counter()
        answers = _of_texts(
            lambda batch: scores_of(adapter.info, adapter.score(None, batch, mode), batch), texts, counts
        )
        counts.texts_encoded += len(texts)
        counts.compute_seconds += perf_counter() - began
        for text, score in zip(texts, (score for batch in answers for score in batch), strict=True):
            yield PairScore(None, text, float(score.value), dict(score.parts))
