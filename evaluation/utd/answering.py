"""Run models that answer a bias run's samples from the videos themselves. Only jobs load it.

The model is a trained classifier, or a zero-shot image-text model. The classifier has a frozen video backbone, one
layer of attention pooling and a linear layer (UTD, Secs. 5.1 and B.4). Videos pass through the backbone again in every
epoch, because their crops differ; its weights do not change.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from django.utils import timezone
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

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
from evaluation.utd.samples import Sample, samples_of
from hub.adapters.registry import BACKBONE, open_adapter, open_helper
from hub.device import choose_device
from hub.interfaces import FeatureExtractor, Frames, ModelInfo, VideoMeta
from jobs.models import Job
from jobs.progress import progress
from text.quoting import quoted

CLIPS_PER_BATCH = 8
TEXTS_PER_BATCH = 256
# Limits of a crop's share of the picture and of its aspect ratio (the authors' settings of VideoGLUE).
AREA, ASPECT = (0.3, 1.0), (0.5, 2.0)
# A mirror image changes these classes.
SIDED = ("left", "right", "clockwise")
Read = Callable[[int], tuple[Frames, VideoMeta]]


def predict_samples(row: BenchmarkedModel, job: Job) -> None:
    """Fill the row's answers. EvaluationError, HubError: nothing to train on, or a model that does not load."""
    samples, _ = samples_of(row.run)
    if row.source.startswith(ZERO_SHOT):
        row.right = _zero_shot(row, samples, job)
    else:
        row.right = _trained(row, samples, job)
    row.scored_at = timezone.now()
    row.save(update_fields=["right", "details", "scored_at"])


def _trained(row: BenchmarkedModel, samples: Sequence[Sample], job: Job) -> dict[str, float]:
    if row.run.task != CLASSIFICATION:
        raise EvaluationError("classifiers work only for classification; score retrieval zero-shot")
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
    """Compare class names or captions with the test videos, by the cosine of an image-text or video-text model.

    Classes that only the train split has are among the choices, as for all other models on the page.
    """
    samples = [sample for sample in every if not sample.train]
    spec = row.source.removeprefix(ZERO_SHOT)
    model = open_adapter(spec, device=row.details.get("device", "auto"), trust=trust_of(row.run.project, spec))
    if not hasattr(model, "encode_video"):
        raise EvaluationError(
            f"{quoted(spec)} does not encode videos; choose an image-text or video-text encoder, such as clip:ID"
        )
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
    heard: Callable[[int, float], None] | None = None,
) -> Pooler:
    """Train the classifier. `read(i)`: the frames of training clip i; `labels` (n,).

    `heard(epoch, loss)` is called after each epoch, from 1. EvaluationError: fewer than two classes.
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
                shown = [read(int(at)) for at in some]
                if settings.augment:
                    shown = [(augmented(frames, draw, mirrored), meta) for frames, meta in shown]
                tokens = torch.from_numpy(_features(backbone, shown)).to(where)
                loss = F.cross_entropy(head(tokens), torch.from_numpy(labels[some]).to(where))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
            if heard:
                heard(epoch, float(np.mean(losses)))
    return head.eval()


@torch.inference_mode()
def predicted(
    head: Pooler, backbone: FeatureExtractor, read: Read, count: int, batch: int, *, device: str = "auto"
) -> Iterator[int]:
    """Predict the class of each of `count` clips: one view, no crops."""
    where = choose_device(device)
    for start in range(0, count, batch):
        shown = [read(at) for at in range(start, min(count, start + batch))]
        yield from head(torch.from_numpy(_features(backbone, shown)).to(where)).argmax(dim=1).tolist()


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
    left = max(settings.epochs - settings.warm_up, 1e-9)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (epoch - settings.warm_up) / left)))


def _features(backbone: FeatureExtractor, shown: Sequence[tuple[Frames, VideoMeta]]) -> Any:
    return backbone.features([frames for frames, _ in shown], [meta for _, meta in shown])
