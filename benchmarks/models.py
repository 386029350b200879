"""Measure decoding, reading and entailment before and after, as ratios in one run.

    .venv/bin/python benchmarks/models.py [--only decode,read,entailment] [--threads 1] [--repeat 3]

decode: clips of 640 x 360 and 10 s through a pool of one and of two threads. `share` leaves out the time that a thread
waited for a processor (Linux' schedstat), so that other load matters less. `limit` is the same for a computation
without memory or locks: what two processors of this machine give.
read: frames for several models from one decoding relative to one decoding per model, in processor seconds.
entailment: a model in the shape of roberta-base, two captions of 8 to 25 words per pair, in float32. One pair per
forward pass of transformers against batches with MKL (before) and batches with oneDNN (after). One thread is measured
in processor seconds, several by the wall clock; both sides take turns, and the fastest of each counts.
"""

import argparse
import hashlib
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402 (the root must be on the path first)
import torch  # noqa: E402

from benchmarks import generation  # noqa: E402
from benchmarks.scoring import decoded, videos  # noqa: E402
from foilworks.core.hub.catalogue.registry import CLASSIFIER  # noqa: E402
from foilworks.core.hub.loading.onednn import use_onednn  # noqa: E402
from foilworks.core.hub.loading.pretrained import TOKENS_PER_BATCH  # noqa: E402
from foilworks.core.hub.opening import open_helper  # noqa: E402
from foilworks.core.media.decode_pool import DecodePool  # noqa: E402
from foilworks.core.media.file_cache import FileCache  # noqa: E402
from foilworks.core.media.frame_cache import ClipRequest, FrameCache, FramesAsked  # noqa: E402
from foilworks.core.media.sampling import CENTRES, Sampling  # noqa: E402

# Frames of the models of one release: two alike, and others.
MODELS = (
    FramesAsked(Sampling(CENTRES, 8)),
    FramesAsked(Sampling(CENTRES, 8)),
    FramesAsked(Sampling(CENTRES, 8), (224, 224)),
    FramesAsked(Sampling(CENTRES, 4)),
    FramesAsked(Sampling(CENTRES, 16)),
)
# Stays in the first cache of a processor.
BUFFER = bytes(16 * 1024)


def hashed(_: Path) -> None:
    digest = hashlib.sha256()
    for _ in range(9000):
        digest.update(BUFFER)


def waited() -> float:
    """Return the seconds that this thread could run but had no processor; 0 where the system does not say."""
    try:
        found = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return int(found.split()[1]) / 1e9


def alone(work: Callable[[Path], Any], path: Path) -> float:
    """Return the seconds of `work` without those that its thread waited for a processor."""
    began, before = time.perf_counter(), waited()
    work(path)
    return time.perf_counter() - began - (waited() - before)


def decode(paths: Sequence[Path], repeat: int) -> None:
    wall: dict[tuple[str, int], list[float]] = {}
    each: dict[tuple[str, int], list[float]] = {}
    for _, (name, work), workers in product(range(repeat), (("decode", decoded), ("limit", hashed)), (1, 2)):
        began = time.perf_counter()
        with DecodePool(workers) as pool:
            found = [wait() for _, wait in pool.ahead(paths, lambda path, work=work: alone(work, path), 4)]
        wall.setdefault((name, workers), []).append(time.perf_counter() - began)
        each.setdefault((name, workers), []).append(float(np.median(found)))
    for name in ("decode", "limit"):
        by_wall = min(wall[name, 1]) / min(wall[name, 2])
        by_share = 2 * min(each[name, 1]) / min(each[name, 2])
        print(f"{name:7} two workers against one: wall {by_wall:.2f}, share {by_share:.2f}")
    print(f"        (load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors)", flush=True)


def read(paths: Sequence[Path], folder: Path, repeat: int) -> None:
    spent: dict[str, float] = {}
    for number in range(repeat):
        for name in ("alone", "equal", "together"):
            began = time.process_time()
            for path in paths:
                files = FileCache(folder / f"{name} {number}", 10**10)
                for one in MODELS:
                    cache = FrameCache(
                        files if name != "alone" else None, one.form, also=MODELS if name == "together" else ()
                    )
                    cache.read(ClipRequest(path, one.sampling, size=one.size, content=path.name))
            spent[name] = min(spent.get(name, np.inf), time.process_time() - began)
    print(
        f"read    {len(MODELS)} models, {len(paths)} clips: a decoding per model against the cache of equal frames "
        f"{spent['alone'] / spent['equal']:.2f} (before), against one decoding for all "
        f"{spent['alone'] / spent['together']:.2f} (after)",
        flush=True,
    )


def pairs(number: int) -> Iterator[tuple[str, str]]:
    """Yield a caption of 8 to 25 words with each of its foils."""
    rng = random.Random(5)
    for caption in generation.captions(number):
        rest = f" while {rng.choice(generation.WHO)} {rng.choice(generation.VERBS)} {rng.choice(generation.WHAT)}"
        tail = rest if rng.random() < 0.5 else ""
        for foil in generation.foils(caption):
            yield " ".join(caption) + tail, foil + tail


def entailment(threads: int, repeat: int, many: int, few: int) -> None:
    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    with tempfile.TemporaryDirectory() as folder:
        path = generation.write_models(Path(folder))[CLASSIFIER]
        after = open_helper(path, CLASSIFIER, device="cpu")
        before, single = (generation.plain(path) for _ in range(2))
        fast_single = generation.plain(path)
        use_onednn(fast_single.model.base_model)
    before._budget = TOKENS_PER_BATCH
    work = list(pairs(many))
    sides: dict[str, tuple[Callable[[], Any], int]] = {
        "one at a time": (lambda: [generation.entailment_one(single, pair) for pair in work[:few]], few),
        "one at a time, oneDNN": (lambda: [generation.entailment_one(fast_single, pair) for pair in work[:few]], few),
        "batches, MKL": (lambda: before.probs(work), len(work)),
        "batches, oneDNN": (lambda: after.probs(work), len(work)),
    }
    best = dict.fromkeys(sides, np.inf)
    for _ in range(repeat):
        for name, (side, count) in sides.items():
            began = clock()
            side()
            best[name] = min(best[name], (clock() - began) / count)
    tokens = np.mean([len(after.tokenizer(*pair)["input_ids"]) for pair in work])
    weights = sum(layer.weight.numel() for layer in after.model.modules() if hasattr(layer, "bias"))
    print(
        f"entailment, {threads} thread(s), {tokens:.0f} tokens per pair, {2e-9 * weights * tokens:.1f} GFLOP per pair"
    )
    for name, seconds in best.items():
        print(f"        {name:22} {seconds * 1e3:6.1f} ms, ratio {best['one at a time'] / seconds:.2f}")
    error = float(np.abs(after.probs(work) - before.probs(work)).max())
    print(f"        largest difference of a probability {error:.1e}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="decode,read,entailment")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--captions", type=int, default=24, help="captions of the batches, with 10 foils each")
    parser.add_argument("--naive", type=int, default=30, help="pairs of the loop")
    options = parser.parse_args()
    wanted = options.only.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = videos(folder, 4) if {"decode", "read"} & set(wanted) else []
        if "decode" in wanted:
            decode(paths * 2, options.repeat)
        if "read" in wanted:
            read(paths, folder, options.repeat)
    if "entailment" in wanted:
        entailment(options.threads, options.repeat, options.captions, options.naive)


if __name__ == "__main__":
    main()
