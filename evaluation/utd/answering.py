"""Models that answer a bias run's samples from the videos themselves: a trained classifier, an image-text model's
zero-shot. Only jobs load it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from django.utils import timezone

from corpus.models import Video
from corpus.video_files.stored_files import clip_file
from evaluation.errors import EvaluationError
from evaluation.scoring.caches import caches
from evaluation.scoring.loop import Clip
from evaluation.scoring.protocol_models import reader
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.trusted_models import trust_of
from evaluation.utd.ablation import ZERO_SHOT
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.measures import credit_of
from evaluation.utd.models import BenchmarkedModel
from evaluation.utd.pooling import Settings, predicted, train
from evaluation.utd.samples import Sample, samples_of
from hub.adapters.registry import BACKBONE, open_adapter, open_helper
from hub.interfaces import Frames, ModelInfo, VideoMeta
from jobs.models import Job
from jobs.progress import progress

CLIPS_PER_BATCH = 8
TEXTS_PER_BATCH = 256


def predict_samples(row: BenchmarkedModel, job: Job) -> None:
    """Fill the row's answers. EvaluationError, HubError: nothing to learn from, or a model that does not load."""
    samples, _ = samples_of(row.run)
    if row.source.startswith(ZERO_SHOT):
        row.right = _zero_shot(row, samples, job)
    else:
        row.right = _trained(row, samples, job)
    row.scored_at = timezone.now()
    row.save(update_fields=["right", "details", "scored_at"])


def _trained(row: BenchmarkedModel, samples: Sequence[Sample], job: Job) -> dict[str, float]:
    if row.run.task != CLASSIFICATION:
        raise EvaluationError("a classifier is trained for classification; score retrieval zero-shot")
    test = [sample for sample in samples if not sample.train]
    learnt = [sample for sample in samples if sample.train]
    if not learnt:
        raise EvaluationError("no described video of the train split has a class; describe some, then train again")
    names = sorted({sample.target for sample in samples})
    labels = np.array([names.index(sample.target) for sample in learnt], dtype=np.int64)
    options = {key: value for key, value in row.details.items() if key in Settings.__dataclass_fields__}
    settings, device = Settings(**options), row.details.get("device", "auto")
    backbone = open_helper(row.source, BACKBONE, device=device)
    losses: list[float] = []

    def heard(epoch: int, loss: float) -> None:
        losses.append(loss)
        progress(job, epoch, settings.epochs + 1, f"loss: {loss:.3f}")

    head = train(backbone, clip_reader(learnt, backbone.info), labels, names, settings, device=device, heard=heard)
    found = predicted(head, backbone, clip_reader(test, backbone.info), len(test), CLIPS_PER_BATCH, device=device)
    right = {sample.id: float(names[at] == sample.target) for sample, at in zip(test, found, strict=True)}
    row.details = {**row.details, "losses": losses, "model": f"{backbone.info.model_id}@{backbone.info.revision}"}
    progress(job, settings.epochs + 1, settings.epochs + 1)
    return right


def _zero_shot(row: BenchmarkedModel, every: Sequence[Sample], job: Job) -> dict[str, float]:
    """Class names or captions against the test videos, by the cosine of an image-text or video-text model.

    Classes that only the train split has are among the choices, as they are for all that stands beside it.
    """
    samples = [sample for sample in every if not sample.train]
    spec = row.source.removeprefix(ZERO_SHOT)
    model = open_adapter(spec, device=row.details.get("device", "auto"), trust=trust_of(row.run.project, spec))
    if not hasattr(model, "encode_video"):
        raise EvaluationError(f"'{spec}' encodes no videos; name an image-text or video-text encoder, such as clip:ID")
    classifies = row.run.task == CLASSIFICATION
    names = sorted({sample.target for sample in every}) if classifies else [sample.target for sample in samples]
    starts = range(0, len(names), TEXTS_PER_BATCH)
    texts = np.concatenate([model.encode_text(names[at : at + TEXTS_PER_BATCH]) for at in starts])
    read, rows = clip_reader(samples, model.info), []
    for start in range(0, len(samples), CLIPS_PER_BATCH):
        shown = [read(at) for at in range(start, min(len(samples), start + CLIPS_PER_BATCH))]
        rows.append(model.encode_video([frames for frames, _ in shown], [meta for _, meta in shown]))
        progress(job, start, len(samples), f"encoding videos: {model.info.model_id}")
    scores = model.score(np.concatenate(rows), texts)
    wanted = np.array([names.index(one.target) for one in samples]) if classifies else np.arange(len(samples))
    credit = credit_of(scores if classifies else scores.T, wanted)
    row.details = {**row.details, "model": f"{model.info.model_id}@{model.info.revision}"}
    progress(job, len(samples), len(samples))
    return {sample.id: float(value) for sample, value in zip(samples, credit, strict=True)}


def clip_reader(samples: Sequence[Sample], info: ModelInfo) -> Callable[[int], tuple[Frames, VideoMeta]]:
    """Frames of sample i as the model wants them, out of the installation's cache. MediaError: unreadable."""
    protocol = PROTOCOLS["foilworks"]
    read = reader(protocol, caches(protocol, info).frames)
    videos = Video.objects.in_bulk([sample.video for sample in samples])

    def shown(at: int) -> tuple[Frames, VideoMeta]:
        video = videos[samples[at].video]
        path = clip_file(video) if video.file else None
        return read(Clip(video.key, path, video.start_time, video.end_time, video.sha256), replace(info))

    return shown
