"""Train a tiny student in a process of its own, which a test kills in the middle of a step.

python -m tests.evaluation.teacher.killed_training FOLDER [STEP]     waits in that step, from 1, until it is killed
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.training.dual_encoders import open_student
from foilworks.site.teacher.examples import examples_of
from foilworks.site.teacher.plan import Objective, Plan
from foilworks.site.teacher.selection import Selection
from foilworks.site.teacher.training import train

STEPS, CLIPS, FRAMES, SIDE = 22, 12, 2, 16
REACHED = "reached"
COLOURS, MOVES = ("red", "blue", "green"), ("rises", "falls", "turns", "stops")
PLAN = Plan(
    Objective(0.1, contrastive=1.0, lbl=1.0),
    steps=STEPS,
    batch=4,
    accumulate=2,
    learning_rate=0.01,
    head_rate=0.02,
    max_norm=0.5,
    save_every=5,
    prefetch=2,
    seed=3,
)


def trained(folder: Path, stop_in: int = 0) -> Path:
    """Return the file of the final weights."""
    captions = [f"a {COLOURS[at % 3]} ball {MOVES[at % 4]}" for at in range(CLIPS)]
    negatives = [[text[: text.rindex(" ") + 1] + move for move in MOVES if move not in text] for text in captions]
    words = Words.of([*captions, *MOVES])
    torch.manual_seed(0)
    config = TinyConfig("temporal", "tiny/killed", frames=FRAMES, size=SIDE, width=8, dimensions=8, text_width=8)
    start = save_model(folder / "start", TinyVideoText(config, len(words.entries)), words, {})
    clips = np.random.default_rng(1).integers(0, 255, (CLIPS, FRAMES, SIDE, SIDE, 3), dtype=np.uint8)
    student = open_student(f"tiny:{start}", lambda place: (clips[place], VideoMeta(key=str(place))), device="cpu")
    asked, encode = [], student.encode_video

    def encode_video(places: np.ndarray) -> torch.Tensor:
        asked.append(places)
        # A step has two parts, and each is encoded twice.
        if stop_in and len(asked) == 4 * (stop_in - 1) + 3:
            sys.stdout.write(f"{REACHED}\n")
            sys.stdout.flush()
            time.sleep(600)
        return encode(places)

    def measure() -> dict[str, float]:
        # Falls after a while, so that the last step is not the best.
        weights = [weight.detach().double().sum() for weight in student.module.parameters()]
        return {"score": float(torch.stack(weights).sum().sin())}

    student.encode_video = encode_video
    selection = Selection(folder, measure, every=1)
    examples = examples_of(captions, negatives)
    train(student, examples, PLAN, folder=folder, selection=selection)
    save_file(student.module.state_dict(), folder / "final.safetensors")
    return folder / "final.safetensors"


if __name__ == "__main__":
    torch.set_num_threads(1)
    trained(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
