"""Run one pass of a dual encoder over a held-out set: encode every clip and every distinct text once."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from evaluation.metrics.intervals import mean
from foilworks.core.hub.interfaces import Embedder, Frames, LimitsTexts, VideoMeta
from foilworks.site.teacher.readings import EvaluationResult, HeldOut, averaged

CLIPS_PER_BATCH = 16
TEXTS_PER_BATCH = 128

ReadClip = Callable[[int], tuple[Frames, VideoMeta]]


def read(
    adapter: Embedder, held_out: HeldOut, clip: ReadClip, report_done: Callable[[int], None] | None = None
) -> EvaluationResult:
    """Evaluate the adapter on the set; `clip(index)` gives a clip's frames, `report_done` receives the number of
    finished clips.

    MediaError, HubError: a clip that cannot be decoded or that the model refuses.
    """
    texts = list(dict.fromkeys([*held_out.captions, *(text for row in held_out.texts for text in row)]))
    row_by_text = {text: at for at, text in enumerate(texts)}
    encoded = np.concatenate([adapter.encode_text(batch) for batch in _batches(texts, TEXTS_PER_BATCH)])
    gallery = list(dict.fromkeys(held_out.captions))
    candidates = encoded[[row_by_text[text] for text in gallery]]
    own = {text: at for at, text in enumerate(gallery)}
    items: list[list[int]] = [[] for _ in held_out.captions]
    for item, at in enumerate(held_out.clips):
        items[at].append(item)
    scores: dict[int, tuple[float, ...]] = {}
    above, tied = [0] * len(held_out.captions), [0] * len(held_out.captions)
    for clip_batch in _batches(range(len(held_out.captions)), CLIPS_PER_BATCH):
        frames = [clip(at) for at in clip_batch]
        rows = adapter.encode_video([clip_frames for clip_frames, _ in frames], [meta for _, meta in frames])
        every = adapter.score(rows, candidates)
        for at, row, clip_scores in zip(clip_batch, rows, every, strict=True):
            right = clip_scores[own[held_out.captions[at]]]
            above[at], tied[at] = int((clip_scores > right).sum()), int((clip_scores == right).sum()) - 1
            for item in items[at]:
                values = adapter.score(row[None], encoded[[row_by_text[text] for text in held_out.texts[item]]])[0]
                scores[item] = tuple(map(float, values))
        if report_done:
            report_done(clip_batch[-1] + 1)
    clusters = tuple(held_out.sources[at] for at in held_out.clips)
    ordered = tuple(scores[item] for item in range(len(held_out.ids)))
    reads = adapter.at_limit(texts) if isinstance(adapter, LimitsTexts) else None
    cut = {text for text, text_read in (reads or {}).items() if text_read.is_cut}
    truncated = tuple(name for name, row in zip(held_out.ids, held_out.texts, strict=True) if not cut.isdisjoint(row))
    return EvaluationResult(
        held_out.ids,
        clusters,
        held_out.kinds,
        ordered,
        held_out.sources,
        tuple(above),
        tuple(tied),
        len(gallery),
        truncated,
    )


def measured(adapter: Embedder, held_out: HeldOut, clip: ReadClip) -> dict[str, float]:
    """Return {measure: its mean} of the adapter on the set, as `foilworks.site.teacher.readings.summary` without
    intervals."""
    return {name: mean(values) for name, (values, _) in averaged([read(adapter, held_out, clip)]).items()}


def _batches(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
