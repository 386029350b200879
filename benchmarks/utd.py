"""Measure UTD at size: N videos x 8 frames x 4 concepts of text are embedded and measured.

    .venv/bin/python benchmarks/utd.py [--sizes 12500 25000 50000 100000]

Prints seconds, peak memory, and the size of one N x N array. Half of the frames repeat the text of the frame before,
and a fifth show no activity. A hashing encoder of 64 dimensions replaces a model, so that the seconds are those of
everything around it. Common sense bias in all 16 cells (400 classes) and recall at 1 of objects in sequence; each size
in a process of its own.
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

from evaluation.utd import measures
from evaluation.utd.concepts import ACTIVITIES, CONCEPTS, NO_ACTIVITY, OBJECTS, SEQUENCE, TEMPORAL, VERBS, sequence_text
from evaluation.utd.instructions import CLASSIFICATION, FRAME, RETRIEVAL
from evaluation.utd.representations import Embedding, Texts, TextVectors

FRAMES, DIMENSIONS, CLASSES, CHUNK = 8, 64, 400, 500
WORDS = [f"thing{number}" for number in range(2_000)]


class Hashing:
    """An encoder: a text's vector is the sum of its words'. Counts the texts it encodes."""

    def __init__(self) -> None:
        self.texts = 0
        self._table = np.random.default_rng(0).standard_normal((4096, DIMENSIONS)).astype(np.float32)

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
            said.append(", ".join(WORDS[word] for word in draw.integers(0, len(WORDS), 6)))
    return said


def chunks(size: int, concept: str) -> Iterator[Texts]:
    for start in range(0, size, CHUNK):
        frames = [frames_of(video, concept) for video in range(start, min(size, start + CHUNK))]
        yield Texts(frames, [sequence_text(said) for said in frames])


def measured(size: int) -> dict[str, float]:
    encode = Hashing()
    with tempfile.TemporaryDirectory() as folder:
        embedding = Embedding(TextVectors(Path(folder), encode, batch=2048))
        names = embedding.targets([f"class {number}" for number in range(CLASSES)], CLASSIFICATION)
        labels = np.arange(size) % CLASSES
        embedded = 0.0
        began = time.perf_counter()
        for concept in CONCEPTS:
            start = time.perf_counter()
            videos = embedding.videos(chunks(size, concept), CLASSIFICATION, concept)
            embedded += time.perf_counter() - start
            for temporal in TEMPORAL:
                measures.classified(videos, names[SEQUENCE if temporal == SEQUENCE else FRAME][:], labels, temporal)
        classified = time.perf_counter() - began - embedded
        captions = embedding.rows([WORDS[video % len(WORDS)] for video in range(size)], "caption")
        videos = embedding.videos(chunks(size, OBJECTS), RETRIEVAL, OBJECTS)
        start = time.perf_counter()
        measures.retrieved(captions, videos, SEQUENCE)
        retrieved = time.perf_counter() - start
    return {"encoded": encode.texts, "embedding_s": embedded, "cells_s": classified, "retrieval_s": retrieved}


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
    parser.add_argument("--sizes", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000])
    given = parser.parse_args()
    if len(given.sizes) > 1:
        for size in given.sizes:
            subprocess.run([sys.executable, __file__, "--sizes", str(size)], check=True)
        return
    [size] = given.sizes
    with Memory() as memory:
        found = measured(size)
    told = {"videos": size, "texts": size * (FRAMES + 1) * 4, "n_x_n_mib": size * size * 4 / 2**20}
    print(json.dumps({key: round(value, 1) for key, value in (told | found | {"grown_mib": memory.grown}).items()}))


if __name__ == "__main__":
    main()
