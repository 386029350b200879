"""Train the demo's two models on the train split (docs/reference/models.md, "The demo's models").

Contrastive (cross entropy over cosines in both directions, learned temperature) with two augmentations that change what
is true: a flipped clip gets the caption of its mirror image, a clip played backwards that of its reversal. Every clip
of a batch is in it both ways, so that the loss falls by distinguishing them; a frame average cannot.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words
from foilworks.site.demo.captions import mirrored_caption, reversed_caption

# Objects are learned sooner than directions. After 28 epochs one seed in four tells directions apart in nine of ten
# clips only, and after 16 objects in 87 of 100; which seed that is depends on the processor.
EPOCHS = {"average": 28, "temporal": 40}
CLIPS_PER_BATCH = 24
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 0.05
TEMPERATURE = 0.07
# Weight of choosing between a clip's caption and its reversal's, relative to choosing among all captions of the batch.
OWN_REVERSAL = 4.0
# Results must not depend on the machine's cores, and two models train side by side.
THREADS = 1


@dataclass(frozen=True)
class TrainingSet:
    """`clips` uint8 (n, frames, size, size, 3); for each its direction caption and its object caption."""

    clips: NDArray[np.uint8]
    directions: Sequence[str]
    objects: Sequence[str]


def train(
    data: TrainingSet,
    config: TinyConfig,
    *,
    seed: int,
    epochs: int | None = None,
    heard: Callable[[int, float], None] | None = None,
) -> tuple[TinyVideoText, Words]:
    """Train and return the model and its vocabulary; the same data, config and seed give the same model.

    `epochs`: default EPOCHS of the architecture. `heard(epoch, loss)` is called after each epoch, counted from 1.
    Torch's own seed and threads are restored.
    """
    vocabulary = Words.of([*data.directions, *map(reversed_caption, data.directions), *data.objects])
    n_epochs = EPOCHS[config.architecture] if epochs is None else epochs
    with _reproducible(seed):
        model = TinyVideoText(config, len(vocabulary.entries)).train()
        for epoch, loss in enumerate(_epochs(model, vocabulary, data, seed, n_epochs), start=1):
            if heard:
                heard(epoch, loss)
    return model.eval(), vocabulary


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(THREADS)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _epochs(model: TinyVideoText, vocabulary: Words, data: TrainingSet, seed: int, epochs: int) -> Iterator[float]:
    """Train the model in place; yield the mean loss of each epoch."""
    draw = np.random.default_rng(seed)
    batches = -(-len(data.clips) // CLIPS_PER_BATCH)
    scale = torch.nn.Parameter(torch.tensor(1 / TEMPERATURE).log())
    optimizer = torch.optim.AdamW([*model.parameters(), scale], lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=epochs * batches, pct_start=0.1
    )
    for _ in range(epochs):
        losses = []
        for indices in np.array_split(draw.permutation(len(data.clips)), batches):
            loss = _loss(model, vocabulary, scale, *_augmented(data, indices, draw))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        yield float(np.mean(losses))


def _augmented(
    data: TrainingSet, indices: NDArray[np.int64], draw: np.random.Generator
) -> tuple[Tensor, list[str], list[str]]:
    """Return the chosen clips, each flipped with probability one half, with their two captions."""
    clips = data.clips[indices]
    flip = draw.random(len(indices)) < 0.5
    clips = np.where(flip[:, None, None, None, None], clips[:, :, :, ::-1], clips)
    captions = [data.directions[i] for i in indices]
    directions = [mirrored_caption(text) if flipped else text for text, flipped in zip(captions, flip, strict=True)]
    return torch.from_numpy(clips), directions, [data.objects[i] for i in indices]


def _loss(
    model: TinyVideoText, vocabulary: Words, scale: Tensor, clips: Tensor, directions: list[str], objects: list[str]
) -> Tensor:
    """Count every clip twice, forwards and backwards; its frames are encoded once."""
    features = model.look(clips)
    videos = model.sum_up(torch.cat([features, features.flip(1)]))
    backwards = [reversed_caption(text) for text in directions]
    direction_loss = _contrast(model, vocabulary, scale, videos, directions + backwards)
    object_loss = _contrast(model, vocabulary, scale, videos, objects * 2)
    right, wrong = (
        (videos * model.encode_text(vocabulary.encode(texts))).sum(dim=1)
        for texts in (directions + backwards, backwards + directions)
    )
    return direction_loss + object_loss + OWN_REVERSAL * F.softplus(-scale.exp() * (right - wrong)).mean()


def _contrast(model: TinyVideoText, vocabulary: Words, scale: Tensor, videos: Tensor, captions: list[str]) -> Tensor:
    """Match clips to captions and captions to clips; clips that share a caption share the right answer equally."""
    distinct = sorted(set(captions))
    caption_index = torch.tensor([distinct.index(caption) for caption in captions])
    logits = scale.exp().clamp(max=100) * videos @ model.encode_text(vocabulary.encode(distinct)).T
    right = F.one_hot(caption_index, len(distinct)).T.float()
    by_text = -(right / right.sum(dim=1, keepdim=True) * logits.T.log_softmax(dim=1)).sum(dim=1).mean()
    return (F.cross_entropy(logits, caption_index) + by_text) / 2
