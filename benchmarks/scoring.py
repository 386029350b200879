"""Measure decoding and cached frames of scoring runs, as ratios in one run.

    .venv/bin/python benchmarks/scoring.py [--repeat 5] [--only decode,cache]

decode: clips of 640 x 360 and 10 s decoded by one and two workers of the pool, threads and processes. Wall clock, the
fastest of several rounds. Other load on the processors distorts the ratio, so the processors in use are printed.
cache: frames read from the cache relative to decoding them again, in processor seconds.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np  # noqa: E402 (the root must be on the path first)

from foilworks.core.media.decode_pool import KINDS, DecodePool  # noqa: E402
from foilworks.core.media.encode import write_mp4  # noqa: E402
from foilworks.core.media.file_cache import FileCache  # noqa: E402
from foilworks.core.media.frame_cache import FORMS, ClipRequest, FrameCache  # noqa: E402
from foilworks.core.media.frames import sample_frames  # noqa: E402
from foilworks.core.media.sampling import CENTRES, Sampling  # noqa: E402

WIDTH, HEIGHT, SECONDS, FPS, FRAMES = 640, 360, 10, 30, 8


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="decode,cache")
    options = parser.parse_args()
    selected_parts = options.only.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = videos(folder, 8)
        if "decode" in selected_parts:
            # Each twice: with few clips the last one, decoded alone, would distort the ratio.
            decode(paths * 2, options.repeat)
        if "cache" in selected_parts:
            cache(paths, folder, options.repeat)


if __name__ == "__main__":
    main()
