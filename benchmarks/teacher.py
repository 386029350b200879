"""Measure a step of LLM-teacher relative to a loop over its candidates, in one run, with random weights.

    .venv/bin/python benchmarks/teacher.py [--k 0 5 10] [--batch 16] [--repeat 5] [--threads 1] [--device cpu]

step: one forward of the batch's clips and one of its distinct texts, all cosines from their product. loop: one
candidate at a time, the caption first, then each changed caption, with a forward of the batch's clips and texts for
each. Both have the same loss (contrastive over the captions, lgt over each clip's candidates) and gradients, which is
checked. Seconds are processor time on a CPU and wall time on a GPU, the best of `repeat` interleaved rounds.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402 (the root must be on the path first)
import torch  # noqa: E402
from transformers.utils import logging  # noqa: E402

from foilworks.core.hub.interfaces import VideoMeta  # noqa: E402
from foilworks.core.hub.training import llm_teacher  # noqa: E402
from foilworks.core.hub.training.dual_encoders import Student, open_student  # noqa: E402
from foilworks.site.teacher.examples import batch_of, examples_of  # noqa: E402
from foilworks.site.teacher.plan import Objective  # noqa: E402
from foilworks.site.teacher.step_losses import whole_losses  # noqa: E402
from tests.hub.folders import clip  # noqa: E402

CLIPS, FRAMES, SIDE, TEMPERATURE = 64, 4, 64, 0.05
VERBS = ("folds", "opens", "lifts", "cuts", "paints", "washes", "throws", "breaks", "closes", "drops", "kicks", "turns")
PEOPLE = ("man", "woman", "girl", "boy")
THINGS = ("paper", "box", "cup", "rope", "door", "shirt", "ball", "chair")
LAYERS = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4}


def batch_with(k: int, size: int) -> llm_teacher.Batch:
    """Return captions "a man folds a cup" with k other verbs each, and possible scores of a teacher."""
    draw = np.random.default_rng(k)
    captions, negatives = [], []
    for _ in range(CLIPS):
        who, thing = PEOPLE[draw.integers(len(PEOPLE))], THINGS[draw.integers(len(THINGS))]
        verbs = [VERBS[at] for at in draw.permutation(len(VERBS))[: k + 1]]
        own, *others = [f"a {who} {verb} a {thing}" for verb in verbs]
        captions.append(own)
        negatives.append(others)
    teacher = [[float(value) for value in draw.uniform(0.3, 0.9, len(row))] for row in negatives]
    return batch_of(examples_of(captions, negatives, teacher), np.arange(size), negatives=k > 0)


def objective_of(batch: llm_teacher.Batch) -> Objective:
    return Objective(TEMPERATURE, contrastive=1.0, lgt=1.0 if batch.negatives.shape[1] else 0.0)


def step(student: Student, batch: llm_teacher.Batch) -> torch.Tensor:
    """Run a step as foilworks.site.teacher.training does."""
    return torch.stack(list(whole_losses(student, batch, objective_of(batch)).values.values())).sum()


def loop(student: Student, batch: llm_teacher.Batch) -> torch.Tensor:
    """Run the same step one candidate at a time."""
    columns = [batch.captions, *batch.negatives.T]
    found = []
    for column in columns:
        videos, texts = student.encode_video(batch.clips), student.encode_text([batch.texts[at] for at in column])
        found.append((videos, texts))
    device = found[0][0].device
    videos, texts = found[0]
    _, first, same = np.unique(batch.captions.numpy(), return_index=True, return_inverse=True)
    every = student.similar(videos, texts[torch.from_numpy(first).to(device)])
    loss = llm_teacher.contrastive(every, torch.from_numpy(same).to(device), TEMPERATURE)
    if len(columns) == 1:
        return loss
    cosines = [student.similar(videos, texts[:, None])[:, 0] for videos, texts in found]
    told = torch.cat([torch.ones_like(batch.teacher[:, :1]), batch.teacher], dim=1).to(device)
    one = llm_teacher.Temperatures.one(TEMPERATURE)
    similar = torch.stack(cosines, dim=1)
    return loss + llm_teacher.logits(similar, told, torch.ones_like(told, dtype=torch.bool), one)


SIDES: dict[str, Callable[[Student, llm_teacher.Batch], torch.Tensor]] = {"step": step, "loop": loop}


def seconds(student: Student, batch: llm_teacher.Batch, side: str) -> float:
    on_gpu = student.device.type == "cuda"
    clock = time.perf_counter if on_gpu else time.process_time
    if on_gpu:
        torch.cuda.synchronize()
    began = clock()
    student.module.zero_grad(set_to_none=True)
    SIDES[side](student, batch).backward()
    if on_gpu:
        torch.cuda.synchronize()
    return clock() - began


def gradients(student: Student, batch: llm_teacher.Batch, side: str) -> tuple[float, torch.Tensor]:
    student.module.zero_grad(set_to_none=True)
    loss = SIDES[side](student, batch)
    loss.backward()
    parts = [each.grad.reshape(-1) for each in student.module.parameters() if each.grad is not None]
    return float(loss.detach()), torch.cat(parts)


def measured(student: Student, batch: llm_teacher.Batch, repeat: int) -> dict[str, Any]:
    (one, left), (other, right) = (gradients(student, batch, side) for side in SIDES)
    assert abs(one - other) < 1e-4, (one, other)
    torch.testing.assert_close(left, right, atol=1e-4, rtol=1e-3)
    best = dict.fromkeys(SIDES, float("inf"))
    for _ in range(repeat):
        for side in SIDES:
            best[side] = min(best[side], seconds(student, batch, side))
    return {
        "k": batch.negatives.shape[1],
        "texts": len(batch.texts),
        "step_s": best["step"],
        "loop_s": best["loop"],
        "times_faster": best["loop"] / best["step"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[0, 5, 10])
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    logging.disable_progress_bar()
    clips = np.random.default_rng(0).integers(0, 255, (CLIPS, FRAMES, SIDE, SIDE, 3), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        spec = f"clip:{clip(Path(folder) / 'clip', vision=LAYERS, text=LAYERS, side=SIDE, patch=16)}?frames={FRAMES}"
        student = open_student(spec, lambda place: (clips[place], VideoMeta(key=str(place))), device=given.device)
        batches = [batch_with(k, given.batch) for k in given.k]
        rows = [measured(student, batch, given.repeat) for batch in batches]
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
