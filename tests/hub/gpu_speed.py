"""Measure a GPU in ten minutes: frames per second against its bf16 limit, shared prefixes, decoding, a teacher's step.

    .venv/bin/python -m tests.hub.gpu_speed [--device cuda] [--only limit,vlm] [--minutes 10] [--tiny]

Prints a JSON line per part. All models have random weights made from configurations, so nothing is downloaded.

limit: the product of bf16 matrices, in TFLOP/s.
encoders: frames per second of CLIP ViT-L/14 and SigLIP so400m, from decoded frames to vectors, in bfloat16 and float32;
`share` is that over what the bf16 limit allows.
vlm: a model in the layout of Qwen2.5-VL-7B that scores six captions after a clip of 8 frames. `times_faster`: one pass
over the prefix against a whole pass per caption. `memory_ratio`: peak memory of the shared prefix over that of whole
passes, without the weights. `share` counts two operations per weight and token, without attention: a lower bound.
decode: clips per second that the decoders of this machine give. `against`: that over the clips per second of each
model, so a value below 1 means that the GPU waits.
teacher: a training step of LLM-teacher with a CLIP student, without and with five changed captions per clip.

--tiny replaces all models by small ones, for a test on a CPU. A part that begins after --minutes is skipped.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from transformers.utils import logging

from foilworks.core.hub.adapters.generative import DESCRIBE, GenerativeModel
from foilworks.core.hub.batching.conversation import Conversation
from foilworks.core.hub.batching.shared_prefix import full_log_probabilities
from foilworks.core.hub.batching.video_families import FAMILIES, settings_of
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.training.dual_encoders import open_student
from foilworks.core.hub.training.llm_teacher import Batch
from foilworks.core.media.decode_pool import DecodePool, usual_workers
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.frames import sample_frames
from foilworks.site.teacher.examples import batch_of, examples_of
from foilworks.site.teacher.plan import Objective
from foilworks.site.teacher.step_losses import losses_of
from tests.hub.folders import clip
from tests.hub.generative_folders import TEMPLATE, talkative

# Model libraries that find no network would wait for it.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
WIDTH, HEIGHT, SECONDS, FPS, FRAMES = 640, 360, 10, 30, 8
WORDS = ("a", "man", "woman", "folds", "opens", "lifts", "the", "red", "shirt", "door", "box", "slowly", "and", "then")
NAMES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
TEXT = dict(zip(NAMES, (256, 1024, 4, 4), strict=True))
CAPTIONS = 6
VERBS = ("folds", "opens", "lifts", "cuts", "paints", "washes")
THINGS = ("paper", "box", "cup", "rope", "door", "shirt", "ball", "chair")


def videos(folder: Path, count: int) -> list[Path]:
    """Write clips with motion and some grain, like a camera's: 640 x 360, 10 s, 30 frames per second, H.264."""
    made = [folder / f"{number}.mp4" for number in range(count)]
    for number, path in enumerate(made):
        draw = np.random.default_rng(number)
        picture = draw.integers(0, 256, (77, 112, 3), np.uint8).repeat(8, 0).repeat(8, 1)

        def frames(picture: np.ndarray = picture, draw: np.random.Generator = draw) -> Iterator[np.ndarray]:
            for at in range(SECONDS * FPS):
                top, left = int(100 + 90 * np.sin(at / 40)), int(120 + 110 * np.cos(at / 30))
                grain = draw.integers(-4, 5, (HEIGHT, WIDTH, 1))
                cut = picture[top : top + HEIGHT, left : left + WIDTH].astype(np.int16) + grain
                yield np.clip(cut, 0, 255).astype(np.uint8)

        write_mp4(path, frames(), fps=FPS, crf=23)
    return made


def decoded(path: Path) -> np.ndarray:
    return sample_frames(path, FRAMES).frames


@dataclass(frozen=True)
class Tower:
    """An image encoder: its side and patch in pixels, hidden and intermediate size, layers and heads."""

    name: str
    siglip: bool
    side: int
    patch: int
    sizes: tuple[int, int, int, int]

    @property
    def operations(self) -> float:
        """Floating-point operations per frame: 162.0e9 of ViT-L/14 at 224 pixels."""
        hidden, inner, layers, _ = self.sizes
        patches = (self.side // self.patch) ** 2
        tokens = patches + (not self.siglip)
        layer = 2 * tokens * (4 * hidden**2 + 2 * hidden * inner) + 4 * tokens**2 * hidden
        return layers * layer + 2 * patches * 3 * self.patch**2 * hidden


@dataclass(frozen=True)
class Sizes:
    """How large everything is: on a GPU as published, or tiny."""

    towers: Sequence[Tower]
    text: dict[str, Any]
    vision: dict[str, Any]
    clips: int
    frame: tuple[int, int]
    student: Tower
    batch: int
    # Clips that are decoded per decoder, rounds of each measurement, and the pixels of a frame at most.
    decoded: int = 8
    repeat: int = 3
    max_pixels: int | None = None


GPU = Sizes(
    towers=(
        Tower("CLIP ViT-L/14", False, 224, 14, (1024, 4096, 24, 16)),
        Tower("SigLIP so400m/14-384", True, 384, 14, (1152, 4304, 27, 16)),
    ),
    text={
        "vocab_size": 152_064,
        "hidden_size": 3584,
        "intermediate_size": 18_944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "rope_parameters": {"rope_type": "default", "mrope_section": [16, 24, 24], "rope_theta": 1e6},
    },
    vision={
        "depth": 32,
        "hidden_size": 1280,
        "intermediate_size": 3420,
        "num_heads": 16,
        "patch_size": 14,
        "out_hidden_size": 3584,
        "window_size": 112,
        "fullatt_block_indexes": [7, 15, 23, 31],
    },
    clips=64,
    frame=(360, 640),
    student=Tower("CLIP ViT-B/32", False, 224, 32, (768, 3072, 12, 12)),
    batch=16,
)
TINY = Sizes(
    towers=(
        Tower("CLIP tiny", False, 32, 8, (32, 64, 2, 2)),
        Tower("SigLIP tiny", True, 32, 8, (32, 64, 2, 2)),
    ),
    text={
        "vocab_size": 600,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e4},
    },
    vision={
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 2,
        "patch_size": 14,
        "out_hidden_size": 64,
        "window_size": 112,
        "fullatt_block_indexes": [1],
    },
    clips=2,
    frame=(56, 84),
    student=Tower("CLIP tiny", False, 32, 8, (32, 64, 2, 2)),
    batch=2,
    decoded=1,
    repeat=1,
    max_pixels=56 * 84,
)


@dataclass
class Machine:
    """The device that is measured, its sizes, and what the parts have found so far."""

    device: torch.device
    sizes: Sizes
    folder: Path
    peak: float = 0.0
    clips_per_s: dict[str, float] = field(default_factory=dict)

    def quickest(self, work: Callable[[], Any]) -> float:
        """Seconds of the quickest round, after a first one that does not count."""
        work()
        best = float("inf")
        for _ in range(self.sizes.repeat):
            done, began = synchronised(self.device), time.perf_counter()
            work()
            done()
            best = min(best, time.perf_counter() - began)
        return best

    def peak_bytes(self, work: Callable[[], Any]) -> int:
        """The most memory in use at a time during `work`, beyond what was in use before."""
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
            before = torch.cuda.memory_allocated(self.device)
            work()
            return torch.cuda.max_memory_allocated(self.device) - before
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as found:
            work()
        in_use = np.cumsum([each.self_cpu_memory_usage for each in sorted(found.events(), key=_start)])
        return int(in_use.max(initial=0))


def _start(event: Any) -> float:
    return float(event.time_range.start)


def limit(machine: Machine) -> dict[str, Any]:
    return {"tflops": machine.peak / 1e12}


def encoders(machine: Machine) -> dict[str, Any]:
    return {"models": [_encoder(machine, tower, name) for tower in machine.sizes.towers for name in FORMATS]}


FORMATS = ("bfloat16", "float32")


def _encoder(machine: Machine, tower: Tower, dtype: str) -> dict[str, Any]:
    folder = machine.folder / tower.name.replace("/", "-").replace(" ", "-")
    if not folder.exists():
        vision = dict(zip(NAMES, tower.sizes, strict=True))
        clip(folder, siglip=tower.siglip, vision=vision, text=TEXT, side=tower.side, patch=tower.patch)
    adapter = open_adapter(f"clip:{folder}?frames={FRAMES}", device=str(machine.device), dtype=dtype)
    # The loop shrinks frames beside the decoders.
    shown = np.random.default_rng(0).integers(0, 256, (8, FRAMES, tower.side, tower.side, 3), np.uint8)
    rounds = max(1, machine.sizes.clips // len(shown))

    def work() -> None:
        for _ in range(rounds):
            adapter.encode_video(list(shown), [VideoMeta()] * len(shown))

    rate = rounds * len(shown) / machine.quickest(work)
    machine.clips_per_s[f"{tower.name} {dtype}"] = rate
    allowed = machine.peak / tower.operations
    return {
        "model": tower.name,
        "dtype": dtype,
        "gflop_per_frame": tower.operations / 1e9,
        "frames_per_s": rate * FRAMES,
        "allowed_frames_per_s": allowed,
        "share": rate * FRAMES / allowed,
    }


def generative(machine: Machine) -> GenerativeModel:
    """A model in Qwen2.5-VL's layout with random weights, in bfloat16 on a GPU."""
    tokenizer = talkative()
    names = ("video_token_id", "image_token_id", "vision_start_token_id", "vision_end_token_id")
    marks = ["<|video_pad|>", "<|image_pad|>", "<|vision_start|>", "<|vision_end|>"]
    ids = dict(zip(names, tokenizer.convert_tokens_to_ids(marks), strict=True))
    config = Qwen2_5_VLConfig(text_config=machine.sizes.text, vision_config=machine.sizes.vision, **ids)
    torch.set_default_dtype(torch.bfloat16 if machine.device.type == "cuda" else torch.float32)
    try:
        with torch.device(machine.device):
            model = Qwen2_5_VLForConditionalGeneration(config).eval()
    finally:
        torch.set_default_dtype(torch.float32)
    tokenizer.chat_template = TEMPLATE.replace("VIDEO", f"{marks[2]}{marks[0]}{marks[3]}")
    talk = Conversation("", FAMILIES["qwen2_5_vl"].marks, tokenizer=tokenizer)
    loaded = Pretrained(model, "random", "", machine.device)
    return GenerativeModel(loaded, talk, settings_of("qwen2_5_vl", {}, machine.sizes.max_pixels), "likelihood", FRAMES)


def vlm(machine: Machine) -> dict[str, Any]:
    adapter = generative(machine)
    shown = np.random.default_rng(0).integers(0, 256, (FRAMES, *machine.sizes.frame, 3), np.uint8)
    captions = texts(0, CAPTIONS)
    rendered = adapter.talk.prompt(DESCRIBE, video=True)
    prefix = adapter.prefix(rendered, adapter.prepare(shown))
    rows = [adapter.talk.continued_ids(rendered, text) for text in captions]

    def shared() -> list[torch.Tensor]:
        return adapter.prefixes.log_probabilities(prefix, rows)

    def whole() -> list[torch.Tensor]:
        return full_log_probabilities(adapter.prefixes, prefix, rows)

    once, each = machine.quickest(shared), machine.quickest(whole)
    rate = 1 / machine.quickest(lambda: adapter.score(shown, captions))
    memory, memory_whole = machine.peak_bytes(shared), machine.peak_bytes(whole)
    machine.clips_per_s["vlm"] = rate
    vision = sum(weights.numel() for weights in adapter.model.model.visual.parameters())
    language = sum(weights.numel() for weights in adapter.model.parameters()) - vision
    tokens = prefix.ids.shape[1] + sum(map(len, rows))
    needed = 2 * (language * tokens + vision * int(prefix.tensors["video_grid_thw"].prod()))
    return {
        "billion_weights": (language + vision) / 1e9,
        "prefix_tokens": prefix.ids.shape[1],
        "captions": CAPTIONS,
        "clips_per_s": rate,
        "frames_per_s": rate * FRAMES,
        "share": rate * needed / machine.peak,
        "shared_ms": once * 1e3,
        "whole_ms": each * 1e3,
        "times_faster": each / once,
        "largest_difference_nats": max(float((a - b).abs().max()) for a, b in zip(shared(), whole(), strict=True)),
        "shared_peak_mb": memory / 1e6,
        "whole_peak_mb": memory_whole / 1e6,
        "memory_ratio": memory / memory_whole,
    }


def decode(machine: Machine) -> dict[str, Any]:
    workers = usual_workers()
    paths = videos(machine.folder, 1) * (machine.sizes.decoded * workers)
    with DecodePool(workers) as pool:

        def work() -> None:
            for _, wait in pool.ahead(paths, decoded, 2 * workers):
                wait()

        rate = len(paths) / machine.quickest(work)
    against = {name: rate / computed for name, computed in machine.clips_per_s.items()}
    return {"workers": workers, "clips_per_s": rate, "against": against}


def teacher(machine: Machine) -> dict[str, Any]:
    tower = machine.sizes.student
    sizes = dict(zip(NAMES, tower.sizes, strict=True))
    folder = clip(machine.folder / "student", vision=sizes, text=TEXT, side=tower.side, patch=tower.patch)
    draw = np.random.default_rng(0)
    clips = draw.integers(0, 256, (machine.sizes.batch, FRAMES, tower.side, tower.side, 3), np.uint8)
    student = open_student(
        f"clip:{folder}?frames={FRAMES}",
        lambda place: (clips[place], VideoMeta(key=str(place))),
        device=str(machine.device),
    )
    rows = []
    for k in (0, 5):
        batch, objective = _batch(k, machine.sizes.batch), Objective(0.05, contrastive=1.0, lgt=float(k > 0))

        def step(batch: Batch = batch, objective: Objective = objective) -> None:
            student.module.zero_grad(set_to_none=True)
            videos, texts = student.encode_video(batch.clips), student.encode_text(batch.texts)
            losses_of(student, batch, objective, videos, texts).weighted(objective.shares).backward()

        rows.append({"k": k, "step_s": machine.quickest(step)})
    return {"model": tower.name, "batch": machine.sizes.batch, "steps": rows}


def _batch(k: int, clips: int) -> Batch:
    """Return captions such as "a man folds a cup" with k other verbs each, and the scores of a teacher."""
    things = [THINGS[clip_index % len(THINGS)] for clip_index in range(clips)]
    captions = [f"a man {VERBS[0]} a {thing}" for thing in things]
    negatives = [[f"a man {verb} a {thing}" for verb in VERBS[1 : k + 1]] for thing in things]
    scores = np.random.default_rng(k).uniform(0.3, 0.9, (clips, k)).tolist()
    return batch_of(examples_of(captions, negatives, scores), np.arange(clips), negatives=k > 0)


PARTS: dict[str, Callable[[Machine], dict[str, Any]]] = {
    "limit": limit,
    "encoders": encoders,
    "vlm": vlm,
    "decode": decode,
    "teacher": teacher,
}


def texts(seed: int, count: int = 6) -> list[str]:
    """Return texts of 6 to 14 words."""
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(WORDS, draw.integers(6, 15))) for _ in range(count)]


def bf16_limit(device: torch.device, *, tiny: bool = False) -> float:
    """Return operations per second of products of square bf16 matrices: the best of several."""
    side = 8192 if device.type == "cuda" else 128 if tiny else 1024
    left, right = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = 0.0
    for _ in range(12):
        done = synchronised(device)
        began = time.perf_counter()
        for _ in range(8):
            left @ right
        done()
        best = max(best, 8 * 2 * side**3 / (time.perf_counter() - began))
    return best


def synchronised(device: torch.device) -> Callable[[], None]:
    if device.type != "cuda":
        return lambda: None
    torch.cuda.synchronize(device)
    return lambda: torch.cuda.synchronize(device)


def named(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args(arguments)
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    device, began = torch.device(options.device), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        machine = Machine(device, TINY if options.tiny else GPU, Path(name), bf16_limit(device, tiny=options.tiny))
        about = {"device": named(device), "torch": torch.__version__, "processors": os.cpu_count()}
        print(json.dumps({"part": "machine", **about}), flush=True)
        for part in options.only.split(","):
            late = time.perf_counter() - began > 60 * options.minutes
            found = {"skipped": f"it began after {options.minutes:g} minutes"} if late else PARTS[part](machine)
            print(json.dumps({"part": part, **found}), flush=True)
        print(json.dumps({"part": "end", "minutes": (time.perf_counter() - began) / 60}), flush=True)


if __name__ == "__main__":
    main()
