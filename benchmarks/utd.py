"""Measure UTD at size: N videos x 8 frames x 4 concepts of text are embedded, measured and learnt.

    .venv/bin/python benchmarks/utd.py [--sizes 2000 8000 20000] [--width 512] [--regression-only]

Prints processor seconds per 1,000 videos and peak memory for each size, the slope over the sizes, and what it makes of
larger sizes (extrapolated, not measured). Half of the frames repeat the frame before; a fifth show no activity.
A hashing encoder replaces a model, so that the seconds are those of everything around it. Common sense bias in all 16
cells (100 classes), recall at 1 of objects in sequence, and the real regression on N training videos: objects in
sequence, objects on average over frames, and one of the nine models. Each size in a process of its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from threadpoolctl import threadpool_limits

from evaluation.utd import bias_measures
from evaluation.utd.concepts import (
    ACTIVITIES,
    AVERAGE,
    CONCEPTS,
    NO_ACTIVITY,
    OBJECTS,
    SEQUENCE,
    TEMPORAL,
    VERBS,
    sequence_text,
)
from evaluation.utd.instructions import CLASSIFICATION, FRAME, RETRIEVAL
from evaluation.utd.representations import Embedding, Texts
from evaluation.utd.vector_formats import FLOAT16, FLOAT32
from evaluation.utd.vector_store import TextVectors

FRAMES, CLASSES, CHUNK, TESTED = 8, 100, 500, 2_000
LARGER = (100_000, 240_000, 540_000)
WORDS = [f"thing{number}" for number in range(2_000)]


class Hashing:
    """An encoder: a text's vector is the sum of its words'. Counts the texts it encodes."""

    def __init__(self, width: int) -> None:
        self.texts = 0
        self._table = np.random.default_rng(0).standard_normal((4096, width)).astype(np.float32)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += len(texts)
        rows = [[zlib.crc32(word.encode()) % 4096 for word in text.split()] for text in texts]
        return np.stack([self._table[row].sum(axis=0) for row in rows])


def frames_of(video: int, concept: str) -> list[str]:
    draw = np.random.default_rng([CONCEPTS.index(concept), video])
    said: list[str] = []
    for place in range(FRAMES):
        if place and draw.random() < 0.5:
            said.append(said[-1])
        elif concept in {ACTIVITIES, VERBS} and draw.random() < 0.2:
            said.append(NO_ACTIVITY)
        else:
            words = [*draw.integers(0, len(WORDS), 5), 5 * (video % CLASSES) + draw.integers(0, 50)]
            said.append(", ".join(WORDS[word] for word in words))
    return said


def chunks(size: int, concept: str) -> Iterator[Texts]:
    for start in range(0, size, CHUNK):
        frames = [frames_of(video, concept) for video in range(start, min(size, start + CHUNK))]
        yield Texts(frames, [sequence_text(said) for said in frames])


def measured(size: int, given: argparse.Namespace) -> dict[str, float]:
    encode = Hashing(given.width)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        embedding = Embedding(TextVectors(Path(folder) / "v", encode, batch=2048, precision=given.precision))
        found = {} if given.regression_only else cells(embedding, size)
        found |= learnt(embedding, size, Path(folder))
        return {"encoded": encode.texts, **found}


def cells(embedding: Embedding, size: int) -> dict[str, float]:
    names = embedding.targets([[f"class {number}"] for number in range(CLASSES)], CLASSIFICATION)
    labels = np.arange(size) % CLASSES
    embedded = 0.0
    began = time.process_time()
    for concept in CONCEPTS:
        start = time.process_time()
        videos = embedding.videos(chunks(size, concept), CLASSIFICATION, concept)
        embedded += time.process_time() - start
        for temporal in TEMPORAL:
            bias_measures.classified(videos, names[SEQUENCE if temporal == SEQUENCE else FRAME][:], labels, temporal)
    classified = time.process_time() - began - embedded
    captions = embedding.rows([WORDS[video % len(WORDS)] for video in range(size)], "caption")
    videos = embedding.videos(chunks(size, OBJECTS), RETRIEVAL, OBJECTS)
    start = time.process_time()
    bias_measures.retrieved(captions, videos, SEQUENCE)
    return {"embedding_s": embedded, "cells_s": classified, "retrieval_s": time.process_time() - start}


def learnt(embedding: Embedding, size: int, scratch: Path) -> dict[str, float]:
    """Train on `size` videos, judge the first ones again: seconds per fit, and iterations of the first."""
    videos = embedding.videos(chunks(size, OBJECTS), CLASSIFICATION, OBJECTS)
    judged = embedding.videos(chunks(min(size, TESTED), OBJECTS), CLASSIFICATION, OBJECTS)
    labels = np.arange(size) % CLASSES
    found: dict[str, float] = {}
    for temporal in (SEQUENCE, AVERAGE):
        start = time.process_time()
        model = bias_measures.fitted(bias_measures.Aggregated(videos, temporal), labels, CLASSES, scratch=scratch)
        credits, _ = model.judged(bias_measures.Aggregated(judged, temporal), labels[: len(judged.frames)])
        found |= {
            f"fit_{temporal}_s": time.process_time() - start,
            f"fit_{temporal}_iterations": model.model.iterations,
            f"fit_{temporal}_right": float(credits.mean()),
        }
    start = time.process_time()
    bias_measures.nine_classifiers(
        [videos.sequences],
        labels,
        [judged.sequences],
        labels[: len(judged.frames)],
        CLASSES,
        bootstraps=1,
        scratch=scratch,
    )
    return {**found, "one_of_nine_s": time.process_time() - start}


class Memory:
    """The largest growth of the process's own memory in MiB, without pages of mapped files."""

    def __enter__(self) -> "Memory":
        self._first, self.grown, self._over = self._now(), 0.0, threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._watch.join()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            self.grown = max(self.grown, self._now() - self._first)

    def _now(self) -> float:
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_000, 8_000, 20_000])
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--precision", choices=[FLOAT32, FLOAT16], default=FLOAT32)
    parser.add_argument("--regression-only", action="store_true", help="only texts of objects, and the regressions")
    parser.add_argument("--folder", type=Path, help="folder of the vectors; the largest size needs most of it")
    given = parser.parse_args()
    if len(given.sizes) > 1:
        rows = [alone(size, given) for size in given.sizes]
        for line in slopes(rows):
            print(line)
        return
    [size] = given.sizes
    # Seconds of one processor do not depend on what else the computer does.
    with threadpool_limits(1), Memory() as memory:
        found = measured(size, given)
    told = {"videos": size, "width": given.width, "n_x_n_mib": size * size * 4 / 2**20}
    print(json.dumps({key: round(value, 2) for key, value in (told | found | {"grown_mib": memory.grown}).items()}))


def alone(size: int, given: argparse.Namespace) -> dict[str, float]:
    """Measure one size in its own process."""
    command = [sys.executable, __file__, "--sizes", str(size), "--width", str(given.width)]
    command += ["--precision", given.precision, *(["--regression-only"] if given.regression_only else [])]
    command += ["--folder", str(given.folder)] if given.folder else []
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(line, end="", flush=True)
    return dict(json.loads(line))


def slopes(rows: Sequence[dict[str, float]]) -> Iterator[str]:
    """Yield seconds per 1,000 videos by size, and lines of time and memory through the sizes."""
    sizes = np.array([row["videos"] for row in rows])
    for name in [key for key in rows[0] if key.endswith("_s")]:
        each = ", ".join(f"{1_000 * row[name] / row['videos']:.2f}" for row in rows)
        yield f"{name} per 1,000 videos: {each}"
    slope, base = np.polyfit(sizes, [row["grown_mib"] for row in rows], 1)
    yield f"memory: {base:.0f} MiB and {1_000 * slope:.1f} MiB per 1,000 videos"
    # Retrieval compares all captions with all videos: its time per video grows with the videos.
    flat = [key for key in rows[0] if key.endswith("_s") and key != "retrieval_s"]
    seconds = [sum(row[key] for key in flat) for row in rows]
    per_video, start = np.polyfit(sizes, seconds, 1)
    for size in LARGER:
        hours, mib = (start + per_video * size) / 3600, base + slope * size
        yield f"extrapolated to {size:,} videos: {hours:.1f} h without retrieval, {mib:.0f} MiB"


if __name__ == "__main__":
    main()
