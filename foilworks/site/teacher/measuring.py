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
    adapter: Embedder, held: HeldOut, clip: ReadClip, heard: Callable[[int], None] | None = None
) -> EvaluationResult:
    """Evaluate the adapter on the set; `clip(place)` gives a clip's frames, `heard` receives the number of finished
    clips.

    MediaError, HubError: a clip that cannot be decoded or that the model refuses.
    """
    texts = list(dict.fromkeys([*held.captions, *(text for row in held.texts for text in row)]))
    place = {text: at for at, text in enumerate(texts)}
    encoded = np.concatenate([adapter.encode_text(part) for part in _parts(texts, TEXTS_PER_BATCH)])
    gallery = list(dict.fromkeys(held.captions))
    candidates = encoded[[place[text] for text in gallery]]
    own = {text: at for at, text in enumerate(gallery)}
    items: list[list[int]] = [[] for _ in held.captions]
    for item, at in enumerate(held.clips):
        items[at].append(item)
    scores: dict[int, tuple[float, ...]] = {}
    above, tied = [0] * len(held.captions), [0] * len(held.captions)
    for places in _parts(range(len(held.captions)), CLIPS_PER_BATCH):
        frames = [clip(at) for at in places]
        rows = adapter.encode_video([each for each, _ in frames], [meta for _, meta in frames])
        every = adapter.score(rows, candidates)
        for at, row, found in zip(places, rows, every, strict=True):
            right = found[own[held.captions[at]]]
            above[at], tied[at] = int((found > right).sum()), int((found == right).sum()) - 1
            for item in items[at]:
                values = adapter.score(row[None], encoded[[place[text] for text in held.texts[item]]])[0]
                scores[item] = tuple(map(float, values))
        if heard:
            heard(places[-1] + 1)
    clusters = tuple(held.sources[at] for at in held.clips)
    ordered = tuple(scores[item] for item in range(len(held.ids)))
    reads = adapter.at_limit(texts) if isinstance(adapter, LimitsTexts) else None
    cut = {text for text, found in (reads or {}).items() if found.is_cut}
    truncated = tuple(name for name, row in zip(held.ids, held.texts, strict=True) if not cut.isdisjoint(row))
    return EvaluationResult(
        held.ids, clusters, held.kinds, ordered, held.sources, tuple(above), tuple(tied), len(gallery), truncated
    )


def measured(adapter: Embedder, held: HeldOut, clip: ReadClip) -> dict[str, float]:
    """Return {measure: its mean} of the adapter on the set, as `foilworks.site.teacher.readings.summary` without
    intervals."""
    return {name: mean(values) for name, (values, _) in averaged([read(adapter, held, clip)]).items()}


def _parts(things: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]
