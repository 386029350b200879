"""Run models that answer a bias run's samples from the videos themselves. Only jobs load it.

The model is a trained classifier, or a zero-shot image-text model. The classifier has a frozen video backbone, one
layer of attention pooling and a linear layer (UTD, Secs. 5.1 and B.4). Videos pass through the backbone again in every
epoch, because their crops differ; its weights do not change. A zero-shot model answers in shards.
"""

import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from django.utils import timezone
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from evaluation.errors import EvaluationError
from evaluation.scoring.caches import caches
from evaluation.scoring.fetching import Clip
from evaluation.scoring.protocol_models import reader
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.trusted_models import trust_of
from evaluation.utd.ablation import ZERO_SHOT
from evaluation.utd.bias_measures import credit_of
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BenchmarkedModel
from evaluation.utd.reranking import RERANK, reranked
from evaluation.utd.samples import Sample, samples_of
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.catalogue.registry import BACKBONE
from foilworks.core.hub.device import choose_device
from foilworks.core.hub.interfaces import FeatureExtractor, Frames, ModelInfo, VideoMeta
from foilworks.core.hub.opening import open_adapter, open_helper
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.shards import PROBLEMS, Problems, Stage, finish, keep, ranges, run_stages, shard_size
from foilworks.core.jobs.spread import Spread
from foilworks.core.text.quoting import quoted

CLIPS_PER_BATCH = 8
TEXTS_PER_BATCH = 256
# A killed worker loses at most these.
CLIPS_PER_WRITE = 64
# The smallest and the largest shard.
CLIPS_PER_SHARD = (256, 2048)
STAGE, SCORES, MODEL = "clips", "scores", "model"
SHARD = "utd.answer_shard"
# Limits of a crop's share of the picture and of its aspect ratio (the authors' settings of VideoGLUE).
AREA, ASPECT = (0.3, 1.0), (0.5, 2.0)
# A mirror image changes these classes.
SIDED = ("left", "right", "clockwise")
Read = Callable[[int], tuple[Frames, VideoMeta]]


def predict_samples(row: BenchmarkedModel, job: Job) -> Spread | None:
    """Fill the row's answers. EvaluationError, HubError: nothing to train on, or a model that does not load.

    Returns the `Spread` to return from the job, or None once done.
    """
    samples, _ = samples_of(row.run)
    if row.source.startswith(ZERO_SHOT):
        right = _zero_shot(row, samples, job)
        if isinstance(right, Spread):
            return right
    else:
        right = _trained(row, samples, job)
    row.right, row.scored_at = right, timezone.now()
    row.save(update_fields=["right", "details", "scored_at"])
    # Scores of retrieval are large, and only `right` is read.
    job.shards.update(measured={})
    progress(job, job.total, measured={})
    return None


def _trained(row: BenchmarkedModel, samples: Sequence[Sample], job: Job) -> dict[str, float]:
    if row.run.task != CLASSIFICATION:
        raise EvaluationError("classifiers work only for classification; score retrieval zero-shot")
    test = _tested(samples)
    learnt = [sample for sample in samples if sample.train]
    if not learnt:
        raise EvaluationError("no described video of the train split has a class; describe some, then train again")
    names = sorted({sample.target for sample in samples})
    labels = np.array([names.index(sample.target) for sample in learnt], dtype=np.int64)
    options = {key: value for key, value in row.details.items() if key in Settings.__dataclass_fields__}
    settings, device = Settings(**options), row.details.get("device", "auto")
    backbone = open_helper(row.source, BACKBONE, device=device)
    losses: list[float] = []

    def record_epoch(epoch: int, loss: float) -> None:
        losses.append(loss)
        progress(job, epoch, settings.epochs + 1, f"loss: {loss:.3f}")

    head = train(
        backbone, clip_reader(learnt, backbone.info), labels, names, settings, device=device, on_epoch=record_epoch
    )
    predicted_classes = predicted(
        head, backbone, clip_reader(test, backbone.info), len(test), CLIPS_PER_BATCH, device=device
    )
    right = {sample.id: float(names[at] == sample.target) for sample, at in zip(test, predicted_classes, strict=True)}
    row.details = {**row.details, "losses": losses, "model": f"{backbone.info.model_id}@{backbone.info.revision}"}
    progress(job, settings.epochs + 1, settings.epochs + 1)
    return right


def _zero_shot(row: BenchmarkedModel, every: Sequence[Sample], job: Job) -> Spread | dict[str, float]:
    """Compare class names or captions with the test videos, by the cosine of an image-text or video-text model.

    Classes that only the train split has are among the choices, as for all other models on the page.
    """
    test = _tested(every)
    stage = Stage(
        STAGE,
        SHARD,
        lambda: ranges(range(len(test)), shard_size(len(test), *CLIPS_PER_SHARD)),
        lambda payload, worker: score_clips(row, payload, worker),
    )
    outcome = run_stages(job, len(test) * (2 if row.details.get(RERANK) else 1), [stage])
    if isinstance(outcome, Spread):
        return outcome
    keys = set(outcome[MODEL])
    if len(keys) > 1:
        raise EvaluationError(
            f"hosts have different files of the model: {', '.join(sorted(keys))}; install the same files on all hosts, "
            "then start it again"
        )
    stored = dict(outcome[SCORES])
    if set(stored) != {sample.id for sample in test}:
        raise EvaluationError("the samples changed while the model was answering; start it again")
    if row.run.task == CLASSIFICATION:
        right = {sample.id: float(stored[sample.id]) for sample in test}
    else:
        scores = np.stack([np.frombuffer(b64decode(stored[sample.id]), np.float32) for sample in test])
        if row.details.get(RERANK):
            ids, captions = [sample.id for sample in test], [sample.target for sample in test]
            credit = reranked(row, job, ids, captions, scores.T, partial(clip_reader, test))
        else:
            credit = credit_of(scores.T, np.arange(len(test)))
        right = {sample.id: float(value) for sample, value in zip(test, credit, strict=True)}
    row.details = {**row.details, "model": keys.pop()}
    return right


def answer_shard(row: BenchmarkedModel, shard: Job) -> None:
    """Score the clips of one range of the samples."""
    finish(shard, score_clips(row, shard.payload, shard))


def score_clips(row: BenchmarkedModel, payload: Mapping[str, Any], job: Job) -> Problems:
    """Score the clips of a range that have no stored result.

    The result of a sample is whether its class is right, or in retrieval its video's scores of all captions.
    """
    results_by_kind: Problems = dict(job.measured.get(PROBLEMS, {}))
    every, _ = samples_of(row.run)
    scored_ids = {name for name, _ in results_by_kind.get(SCORES, [])}
    pending_samples = [
        sample for sample in _tested(every)[payload["first"] : payload["last"] + 1] if sample.id not in scored_ids
    ]
    if not pending_samples:
        return results_by_kind
    model = _encoder(row)
    results_by_kind[MODEL] = sorted({*results_by_kind.get(MODEL, []), f"{model.info.model_id}@{model.info.revision}"})
    results = results_by_kind[SCORES] = list(results_by_kind.get(SCORES, []))
    classifies = row.run.task == CLASSIFICATION
    names = sorted({sample.target for sample in every}) if classifies else [sample.target for sample in _tested(every)]
    starts = range(0, len(names), TEXTS_PER_BATCH)
    texts = np.concatenate([model.encode_text(names[at : at + TEXTS_PER_BATCH]) for at in starts])
    read = clip_reader(pending_samples, model.info)
    for start in range(0, len(pending_samples), CLIPS_PER_BATCH):
        progress(job, len(results), message=f"encoding videos: {model.info.model_id}")
        some = pending_samples[start : start + CLIPS_PER_BATCH]
        clips = [read(start + at) for at in range(len(some))]
        rows = model.encode_video([frames for frames, _ in clips], [meta for _, meta in clips])
        scores = np.asarray(model.score(rows, texts), np.float32)
        values = (
            _credits(scores, names, some)
            if classifies
            else [b64encode(video_scores.tobytes()).decode() for video_scores in scores]
        )
        results += [[sample.id, value] for sample, value in zip(some, values, strict=True)]
        if start // CLIPS_PER_WRITE != (start + CLIPS_PER_BATCH) // CLIPS_PER_WRITE:
            keep(job, len(results), results_by_kind)
    keep(job, len(results), results_by_kind)
    return results_by_kind


def _encoder(row: BenchmarkedModel) -> Any:
    spec = row.source.removeprefix(ZERO_SHOT)
    model = open_adapter(spec, device=row.details.get("device", "auto"), trust=trust_of(row.run.project, spec))
    if not hasattr(model, "encode_video"):
        raise EvaluationError(
            f"{quoted(spec)} does not encode videos; choose an image-text or video-text encoder, such as clip:ID"
        )
    return model


def _credits(scores: NDArray[np.float32], names: Sequence[str], samples: Sequence[Sample]) -> list[float]:
    true_classes = np.array([names.index(sample.target) for sample in samples])
    return [float(value) for value in credit_of(scores, true_classes)]


def _tested(every: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in every if not sample.train]


def clip_reader(samples: Sequence[Sample], info: ModelInfo) -> Callable[[int], tuple[Frames, VideoMeta]]:
    """Read frames of sample i as the model needs them, from the installation's cache. MediaError: unreadable."""
    protocol = PROTOCOLS["foilworks"]
    read = reader(protocol, caches(protocol, info).frames)
    videos = Video.objects.in_bulk([sample.video for sample in samples])

    def shown(at: int) -> tuple[Frames, VideoMeta]:
        video = videos[samples[at].video]
        path = clip_file(video) if video.file else None
        return read(Clip(video.key, path, video.start_time, video.end_time, video.sha256), replace(info))

    return shown


@dataclass(frozen=True)
class Settings:
    """The settings of the paper: AdamW at .001, 50 epochs with 5 of warm-up, then a cosine; weight decay of the
    authors' code.
    """

    epochs: int = 50
    warm_up: int = 5
    learning_rate: float = 1e-3
    weight_decay: float = 0.05
    batch: int = 64
    heads: int = 8
    augment: bool = True
    seed: int = 0


class Pooler(nn.Module):
    """Pool (n, tokens, d) -> (n, classes): one query attends to all tokens, then a linear layer."""

    def __init__(self, width: int, classes: int, heads: int) -> None:
        super().__init__()
        heads = max(h for h in range(1, heads + 1) if width % h == 0)
        self.query = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.out = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = self.before(tokens)
        pooled, _ = self.attention(self.query.expand(len(tokens), -1, -1), tokens, tokens, need_weights=False)
        return self.out(self.after(pooled[:, 0]))


def train(
    backbone: FeatureExtractor,
    read: Read,
    labels: NDArray[np.int64],
    names: Sequence[str],
    settings: Settings,
    *,
    device: str = "auto",
    on_epoch: Callable[[int, float], None] | None = None,
) -> Pooler:
    """Train the classifier. `read(i)`: the frames of training clip i; `labels` (n,).

    `on_epoch(epoch, loss)` is called after each epoch, from 1. EvaluationError: fewer than two classes.
    """
    if len(set(labels.tolist())) < 2:
        raise EvaluationError("the train split has videos of fewer than two classes; add videos of more classes")
    where, draw = choose_device(device), np.random.default_rng(settings.seed)
    mirrored = settings.augment and not any(word in name.lower() for name in names for word in SIDED)
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        torch.manual_seed(settings.seed)
        width = _features(backbone, [read(0)]).shape[2]
        head = Pooler(width, len(names), settings.heads).to(where)
        optimizer = torch.optim.AdamW(head.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
        steps = -(-len(labels) // settings.batch)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step / steps, settings))
        for epoch in range(1, settings.epochs + 1):
            losses = []
            for some in np.array_split(draw.permutation(len(labels)), steps):
                clips = [read(int(at)) for at in some]
                if settings.augment:
                    clips = [(augmented(frames, draw, mirrored), meta) for frames, meta in clips]
                tokens = torch.from_numpy(_features(backbone, clips)).to(where)
                loss = F.cross_entropy(head(tokens), torch.from_numpy(labels[some]).to(where))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
            if on_epoch:
                on_epoch(epoch, float(np.mean(losses)))
    return head.eval()


@torch.inference_mode()
def predicted(
    head: Pooler, backbone: FeatureExtractor, read: Read, count: int, batch: int, *, device: str = "auto"
) -> Iterator[int]:
    """Predict the class of each of `count` clips: one view, no crops."""
    where = choose_device(device)
    for start in range(0, count, batch):
        clips = [read(at) for at in range(start, min(count, start + batch))]
        yield from head(torch.from_numpy(_features(backbone, clips)).to(where)).argmax(dim=1).tolist()


def augmented(frames: Frames, draw: np.random.Generator, mirrored: bool) -> Frames:
    """Crop all frames at the same random place and resize them back; mirror half of them if that is permitted."""
    height, width = frames.shape[1:3]
    for _ in range(10):
        area = draw.uniform(*AREA) * height * width
        aspect = math.exp(draw.uniform(*np.log(ASPECT)))
        tall, wide = round(math.sqrt(area / aspect)), round(math.sqrt(area * aspect))
        if 0 < tall <= height and 0 < wide <= width:
            top, left = int(draw.integers(0, height - tall + 1)), int(draw.integers(0, width - wide + 1))
            cut = torch.from_numpy(frames[:, top : top + tall, left : left + wide].copy()).permute(0, 3, 1, 2).float()
            sized = F.interpolate(cut, (height, width), mode="bilinear", align_corners=False, antialias=True)
            frames = sized.round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1).numpy()
            break
    return np.ascontiguousarray(frames[:, :, ::-1]) if mirrored and draw.random() < 0.5 else frames


def _rate(epoch: float, settings: Settings) -> float:
    """Return the share of the learning rate at a (fractional) epoch: linear up, then down along a cosine."""
    if epoch < settings.warm_up:
        return max(epoch / settings.warm_up, 1e-3)
    decay_epochs = max(settings.epochs - settings.warm_up, 1e-9)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (epoch - settings.warm_up) / decay_epochs)))


def _features(backbone: FeatureExtractor, clips: Sequence[tuple[Frames, VideoMeta]]) -> Any:
    return backbone.features([frames for frames, _ in clips], [meta for _, meta in clips])
