"""Measure where the time of a scoring run goes, as ratios in one run, and the share of the device's bf16 limit.

    .venv/bin/python benchmarks/scoring.py [--device cpu|cuda] [--repeat 5] [--only decode,cache,limit,prefix]

decode: clips of 640 x 360 and 10 s decoded by one and two workers of the pool, threads and processes. Wall clock, the
fastest of several rounds. Other load on the processors distorts the ratio, so the processors in use are printed.
cache: frames read from the cache relative to decoding them again, in processor seconds.
limit: the product of bf16 matrices measured here, the frames per second that it allows each image tower, and the share
that a whole run with cached frames reaches: cache -> pool -> page-locked memory -> device -> float32 score -> stored.
On a CPU without bf16 the share is of what its units do with bf16, as on a GPU.
prefix: captions after a video's prefix that runs once, relative to whole forward passes; on a GPU in the size of
LLaVA-NeXT-Video-7B.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402 (the root must be on the path first)
import torch  # noqa: E402
from transformers import (  # noqa: E402
    CLIPVisionConfig,
    LlamaConfig,
    LlavaNextVideoConfig,
    LlavaNextVideoForConditionalGeneration,
)

from evaluation.scoring.fetching import Clip  # noqa: E402
from evaluation.scoring.loop import ScoringCounts, score_pairs  # noqa: E402
from evaluation.scoring.protocol_models import FrameReader  # noqa: E402
from evaluation.scoring.protocols import PROTOCOLS  # noqa: E402
from foilworks.core.hub.batching.shared_prefix import Prefix, PrefixModel, full_log_probabilities  # noqa: E402
from foilworks.core.hub.opening import open_adapter  # noqa: E402
from foilworks.core.media.decode_pool import KINDS, DecodePool, usual_workers  # noqa: E402
from foilworks.core.media.encode import write_mp4  # noqa: E402
from foilworks.core.media.file_cache import FileCache  # noqa: E402
from foilworks.core.media.frame_cache import FORMS, ClipRequest, FrameCache  # noqa: E402
from foilworks.core.media.frames import sample_frames  # noqa: E402
from foilworks.core.media.sampling import CENTRES, Sampling  # noqa: E402
from tests.hub.folders import clip  # noqa: E402

WIDTH, HEIGHT, SECONDS, FPS, FRAMES = 640, 360, 10, 30, 8
PROTOCOL = PROTOCOLS["foilworks"]
WORDS = ("a", "man", "woman", "folds", "opens", "lifts", "the", "red", "shirt", "door", "box", "slowly", "and", "then")
# Image towers of CLIP's kind at 224 pixels: (name, patch, hidden, layers, heads).
TOWERS = {
    "cpu": (("ViT-S/32", 32, 384, 12, 6), ("ViT-B/32", 32, 768, 12, 12)),
    "cuda": (("ViT-B/16", 16, 768, 12, 12), ("ViT-L/14", 14, 1024, 24, 16), ("ViT-H/14", 14, 1280, 32, 16)),
}
NAMES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
TEXT = dict(zip(NAMES, (256, 1024, 4, 4), strict=True))


def operations(patch: int, hidden: int, layers: int) -> float:
    """Return the floating-point operations of one frame: 162.0e9 for ViT-L/14."""
    tokens = (224 // patch) ** 2 + 1
    layer = 2 * tokens * 12 * hidden**2 + 4 * tokens**2 * hidden
    return layers * layer + 2 * (tokens - 1) * 3 * patch**2 * hidden


def texts(seed: int, count: int = 6) -> list[str]:
    """Return texts of 6 to 14 words."""
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(WORDS, draw.integers(6, 15))) for _ in range(count)]


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


def decode(paths: Sequence[Path], repeat: int) -> None:
    best: dict[tuple[str, int], float] = {}
    in_use: dict[tuple[str, int], float] = {}
    with ExitStack() as stack:
        pools = {key: stack.enter_context(DecodePool(key[1], key[0])) for key in product(KINDS, (1, 2))}
        for round_ in range(repeat + 1):
            for key, pool in pools.items():
                began, before = time.perf_counter(), os.times()
                for _, wait in pool.ahead(paths, decoded, 4):
                    wait()
                seconds, after = time.perf_counter() - began, os.times()
                # The first round includes starting and importing processes.
                if round_ and seconds < best.get(key, np.inf):
                    best[key] = seconds
                    in_use[key] = (after.user + after.system - before.user - before.system) / seconds
    for kind in KINDS:
        one, two = best[kind, 1], best[kind, 2]
        used = f"; {in_use[kind, 1]:.2f} and {in_use[kind, 2]:.2f} processors in use" if kind == "threads" else ""
        print(
            f"decode  {kind}: {len(paths)} clips of {WIDTH} x {HEIGHT}, {SECONDS} s, {FRAMES} frames each: 1 worker "
            f"{len(paths) / one:.1f} clips/s, 2 workers {len(paths) / two:.1f} clips/s, ratio {one / two:.2f}{used}"
        )
    print(f"        (load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors)")


def cache(paths: Sequence[Path], folder: Path, repeat: int) -> None:
    def seconds(work: Callable[[Path], Any]) -> float:
        spent = []
        for _ in range(repeat):
            began = time.process_time()
            for path in paths:
                work(path)
            spent.append(time.process_time() - began)
        return min(spent) / len(paths)

    again = seconds(decoded)
    for form in FORMS:
        kept = FrameCache(FileCache(folder / form, 10**10), form)
        wanted = Sampling(CENTRES, FRAMES)

        def read(path: Path, kept: FrameCache = kept, wanted: Sampling = wanted) -> Any:
            return kept.read(ClipRequest(path, wanted, content=path.name))

        for path in paths:
            read(path)
        back = seconds(read)
        size = kept.files.size() / len(paths) / 1e6 if kept.files else 0.0
        print(
            f"cache   {form}: decoding {again * 1e3:.0f} ms, reading {back * 1e3:.1f} ms, ratio {again / back:.1f}, "
            f"{size:.2f} MB per clip"
        )


def bf16_limit(device: torch.device, *, tiny: bool = False) -> float:
    """Return operations per second of products of square bf16 matrices: the best of several."""
    side = 8192 if device.type == "cuda" else 128 if tiny else 1024
    one, other = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = 0.0
    for _ in range(12):
        done = synchronised(device)
        began = time.perf_counter()
        for _ in range(8):
            one @ other
        done()
        best = max(best, 8 * 2 * side**3 / (time.perf_counter() - began))
    return best


def synchronised(device: torch.device) -> Callable[[], None]:
    if device.type != "cuda":
        return lambda: None
    torch.cuda.synchronize(device)
    return lambda: torch.cuda.synchronize(device)


def limit(paths: Sequence[Path], folder: Path, device: torch.device) -> None:
    """Compare a scoring run with cached frames with what the product of matrices allows."""
    peak = bf16_limit(device)
    print(f"limit   bf16 product measured on {device}: {peak / 1e12:.2f} TFLOP/s")
    kept = FrameCache(FileCache(folder / "run", 10**11))
    # Each is its own clip to the run, so that every frame is encoded: enough for some seconds.
    count = 4096 if device.type == "cuda" else 8
    shown = islice(cycle(paths), count)
    clips = [Clip(f"clip {n}", path, content=path.name) for n, path in enumerate(shown)]
    requests = [(clip, texts(n)) for n, clip in enumerate(clips)]
    decoders = usual_workers()
    for name, patch, hidden, layers, heads in TOWERS[device.type]:
        vision = dict(zip(NAMES, (hidden, 4 * hidden, layers, heads), strict=True))
        spec = f"clip:{clip(folder / name.replace('/', '-'), vision=vision, text=TEXT, side=224, patch=patch)}"
        spec += f"?frames={FRAMES}"
        rates = {}
        for dtype in ("bfloat16", "float32"):
            adapter = open_adapter(spec, device=str(device), dtype=dtype)
            with DecodePool(decoders) as pool:
                read = FrameReader(PROTOCOL, kept)
                list(score_pairs(adapter, requests[: count // 8], read=read, pool=pool))
                tally, began = ScoringCounts(), time.perf_counter()
                stored = [
                    (s.clip_key, s.text, s.value)
                    for s in score_pairs(adapter, requests, tally=tally, read=read, pool=pool)
                ]
                seconds = time.perf_counter() - began
            assert len(stored) == tally.pairs
            rates[dtype] = (len(clips) * FRAMES / seconds, tally, seconds)
        rate, tally, seconds = rates["bfloat16"]
        needed = operations(patch, hidden, layers)
        allowed = peak / needed
        print(
            f"        {name} ({needed / 1e9:.1f} GFLOP per frame): allows {allowed:.0f} frames/s, "
            f"reached {rate:.0f} with {decoders} decoder(s), share {rate / allowed:.2f}; of {seconds:.1f} s the model "
            f"computed {tally.compute_seconds:.1f} and waited {tally.wait_seconds:.1f}, decoders read "
            f"{tally.decode_seconds:.1f}; float32 {rates['float32'][0]:.0f} frames/s"
        )


def large(device: torch.device) -> PrefixModel:
    """Return a model of the size of LLaVA-NeXT-Video-7B on a GPU, a small one of its kind elsewhere; random weights."""
    is_gpu = device.type == "cuda"
    size = (4096, 11008, 32, 32, 32064) if is_gpu else (256, 688, 6, 4, 1000)
    vision = CLIPVisionConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14
    )
    config = LlavaNextVideoConfig(
        vision_config=vision,
        text_config=LlamaConfig(**dict(zip((*NAMES, "vocab_size"), size, strict=True))),
        image_token_index=998,
        video_token_index=999,
    )
    with torch.device(device):
        torch.set_default_dtype(torch.bfloat16 if is_gpu else torch.float32)
        model = LlavaNextVideoForConditionalGeneration(config).eval()
        torch.set_default_dtype(torch.float32)
    return PrefixModel(model, 999)


def prefix(device: torch.device, repeat: int) -> None:
    """Score six captions of 12 tokens after 8 frames of 144 tokens.

    Ids represent the video's features, which go through the same language model.
    """
    model = large(device)
    draw = torch.Generator().manual_seed(0)
    before = Prefix(torch.randint(3, 900, (1, FRAMES * 144 + 20), generator=draw).to(device))
    captions = [torch.randint(3, 900, (12,), generator=draw).tolist() for _ in range(6)]
    spent: dict[str, float] = {}
    found: dict[str, Any] = {}
    ways = {
        "whole": lambda: full_log_probabilities(model, before, captions),
        "shared": lambda: model.log_probabilities(before, captions),
    }
    for name, work in ways.items():
        work()
        for _ in range(repeat):
            done, began = synchronised(device), time.perf_counter()
            found[name] = work()
            done()
            spent[name] = min(spent.get(name, np.inf), time.perf_counter() - began)
    error = max(float((a - b).abs().max()) for a, b in zip(*found.values(), strict=True))
    size = sum(weights.numel() for weights in model.model.parameters()) / 1e6
    print(
        f"prefix  {size:.0f}M parameters, 6 captions after {before.ids.shape[1]} tokens: whole "
        f"{spent['whole'] * 1e3:.0f} ms, shared {spent['shared'] * 1e3:.0f} ms, ratio "
        f"{spent['whole'] / spent['shared']:.1f}, largest difference {error:.1e} nats"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="decode,cache,limit,prefix")
    options = parser.parse_args()
    device, wanted = torch.device(options.device), options.only.split(",")
    print(json.dumps({"device": str(device), "torch": torch.__version__, "processors": os.cpu_count()}))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = videos(folder, 8)
        if "decode" in wanted:
            # Each twice: with few clips the last one, decoded alone, would distort the ratio.
            decode(paths * 2, options.repeat)
        if "cache" in wanted:
            cache(paths, folder, options.repeat)
        if "limit" in wanted:
            limit(paths, folder, device)
        if "prefix" in wanted:
            prefix(device, options.repeat)


if __name__ == "__main__":
    main()
