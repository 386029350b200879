"""Rank the videos of a retrieval again by a second model, those that the first one ranks highest (UTD, Sec. B.4).

The first model encodes videos and captions apart. The second one sees a video and a caption together, which is too slow
for all pairs. Only jobs load it.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.scoring.trusted_models import trust_of
from evaluation.utd.bias_measures import credit_of
from evaluation.utd.models import BenchmarkedModel
from foilworks.core.hub.interfaces import Frames, ModelInfo, VideoMeta
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.shards import PROBLEMS, keep

# (UTD, Sec. B.4)
TOP = 128
RERANK, RESCORED = "rerank", "rescored"
VIDEOS_PER_WRITE = 64
Show = Callable[[int], tuple[Frames, VideoMeta]]


def shortlist(scores: NDArray[np.float32], top: int) -> NDArray[np.bool_]:
    """Return which videos each caption ranks first, (captions, videos). Videos that tie for the last rank: the first
    ones.
    """
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    is_listed = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(is_listed, best, True, axis=1)
    return is_listed


def reranked(
    row: BenchmarkedModel,
    job: Job,
    ids: Sequence[str],
    captions: Sequence[str],
    scores: NDArray[np.float32],
    reader: Callable[[ModelInfo], Show],
) -> NDArray[np.float64]:
    """Return the credit of each caption by the second model, (n,); a video outside the shortlist is never found.

    `scores` (captions, videos), of the first model. Stored videos are not scored again. HubError: the model does not
    load.
    """
    spec = row.details[RERANK]
    model = open_adapter(spec, device=row.details.get("device", "auto"), trust=trust_of(row.run.project, spec))
    row.details = {**row.details, "rerank_model": f"{model.info.model_id}@{model.info.revision}"}
    near, show = shortlist(scores, TOP), reader(model.info)
    sign = 1 if model.info.higher_is_better else -1
    stored = dict(job.measured.get(PROBLEMS, {}))
    rescored = dict(stored.get(RESCORED, []))
    second = np.full(scores.shape, -np.inf, np.float32)
    for at, name in enumerate(ids):
        caption_indices = np.flatnonzero(near[:, at])
        if name not in rescored and len(caption_indices):
            progress(job, len(ids) + at, message=f"ranking again: {model.info.model_id}")
            values = np.asarray(_scored(model, *show(at), [captions[index] for index in caption_indices]), np.float32)
            rescored[name] = b64encode(values.tobytes()).decode()
            if at % VIDEOS_PER_WRITE == VIDEOS_PER_WRITE - 1:
                keep(job, len(ids) + at, {**stored, RESCORED: [list(pair) for pair in rescored.items()]})
        if len(caption_indices):
            second[caption_indices, at] = sign * np.frombuffer(b64decode(rescored[name]), np.float32)
    return credit_of(second, np.arange(len(ids)))


def _scored(model: Any, clip: Frames, meta: VideoMeta, texts: Sequence[str]) -> Sequence[float]:
    if hasattr(model, "encode_video"):
        scores: Sequence[float] = model.score(model.encode_video([clip], [meta]), model.encode_text(texts))[0]
        return scores
    return [score.value for score in model.score(clip, texts, meta=meta)]
