"""Train a model that Foilworks does not know, with the losses of LLM-teacher (docs/how-to/teacher.md).

python docs/examples/teacher_elsewhere.py set.jsonl     (written by `foilworks teacher export --out set.jsonl`)

`train` is what a trainer of your own needs: give it your model, and your way to read frames.
"""

import math
import sys
import zlib
from collections.abc import Callable
from typing import Any

import av
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

# Imports only torch and numpy; a copy of the file works as well.
from foilworks.core.hub.training.llm_teacher import FORWARD, TeacherSet, Temperatures, losses, order

FRAMES, SIDE, WORDS = 8, 64, 4096


def train(
    model: Any,
    read: Callable[[dict[str, Any]], Tensor],
    path: str,
    *,
    steps: int,
    batch: int,
    rate: float,
    seed: int = 0,
) -> list[float]:
    """Train with the plain loss and the teacher's logits at one temperature; return the loss of every step."""
    shares, temperatures = {"contrastive": 1.0, "lgt": 1.0}, Temperatures.one(0.05)
    data = TeacherSet(path, split="train")
    steps_of_rows = list(order(len(data), batch, steps, seed))
    loader = DataLoader(data, batch_sampler=steps_of_rows, collate_fn=data.collate)
    weights = list(model.parameters())
    # No decay for biases and norms.
    groups = [{"params": [each for each in weights if (each.ndim > 1) == decays]} for decays in (True, False)]
    groups[1]["weight_decay"] = 0.0
    optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=0.05)
    rising = max(1, round(0.1 * steps))

    def share(step: int) -> float:
        if step < rising:
            return (step + 1) / rising
        return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    curve = []
    for rows in loader:
        videos = model.encode_video(torch.stack([read(row) for row in rows.clips]))
        texts = model.encode_text(rows.texts)
        found = losses(videos, texts, rows, shares, temperatures, direction=FORWARD)
        loss = found.weighted(shares)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        curve.append(float(loss.detach()))
    return curve


class Small(nn.Module):
    """Any dual encoder: here the mean of two convolutions over all frames, and the sum of vectors of words."""

    def __init__(self) -> None:
        super().__init__()
        self.pictures = nn.Sequential(nn.Conv2d(3, 16, 8, 8), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU())
        self.words = nn.EmbeddingBag(WORDS, 32, mode="sum")

    def encode_video(self, clips: Tensor) -> Tensor:
        return self.pictures(clips.flatten(0, 1)).mean(dim=(2, 3)).unflatten(0, clips.shape[:2]).mean(dim=1)

    def encode_text(self, texts: tuple[str, ...]) -> Tensor:
        rows = [[zlib.crc32(word.encode()) % WORDS for word in text.lower().split()] or [0] for text in texts]
        starts = np.cumsum([0, *map(len, rows[:-1])])
        return self.words(torch.tensor([number for row in rows for number in row]), torch.from_numpy(starts))


def frames(row: dict[str, Any]) -> Tensor:
    """Read the clip of a row: FRAMES pictures at equal distances, as (FRAMES, 3, SIDE, SIDE) from 0 to 1."""
    start, end = row["start"] or 0.0, row["end"] or math.inf
    with av.open(row["file"]) as file:
        shown = [one for one in file.decode(video=0) if start <= (one.time or 0.0) <= end]
    chosen = [shown[round(at)] for at in np.linspace(0, len(shown) - 1, FRAMES)]
    pictures = [one.to_ndarray(format="rgb24", width=SIDE, height=SIDE) for one in chosen]
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float() / 255


def main() -> None:
    torch.manual_seed(0)
    curve = train(Small(), frames, sys.argv[1], steps=200, batch=16, rate=1e-3)
    for step in range(0, len(curve), 20):
        print(f"step {step + 1}: loss {np.mean(curve[step : step + 20]):.3f}")


if __name__ == "__main__":
    main()
