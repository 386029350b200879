"""UTD at size: N videos x 8 frames x 4 concepts of text are embedded and measured; seconds, peak memory, and both as
ratios to the plain way (every text embedded as it comes, one N x N array a cell) at a size where that one still fits.

.venv/bin/python benchmarks/utd.py [--sizes 12500 25000 50000 100000] [--plain 8000]

Half of the frames say what the frame before them said, a fifth of the frames show no activity; an encoder of 64
dimensions by hashing stands for a model, so that seconds are those of everything around it. Common sense bias in all 16
cells (400 classes) and recall at 1 of objects in sequence; each size in a process of its own.
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
from evaluation.utd.representations import Embedding, Texts
from evaluation.utd.text_vectors import TextVectors

FRAMES, DIMENSIONS, CLASSES, CHUNK = 8, 64, 400, 500
WORDS = [f"thing{number}" for number in range(2_000)]


class Hashing:
    """A text's vector is the sum of its words'; how many texts went through it is counted."""

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


def ours(size: int) -> dict[str, float]:
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


def plain(size: int) -> dict[str, float]:
    encode = Hashing()
    names = measures.normalised(encode([f"class {number}" for number in range(CLASSES)]))
    labels = np.arange(size) % CLASSES
    embedded = classified = 0.0
    for concept in CONCEPTS:
        start = time.perf_counter()
        texts = [said for part in chunks(size, concept) for said in part.frames]
        frames = encode([text for said in texts for text in said]).reshape(size, FRAMES, -1)
        sequences = encode([sequence_text(said) for said in texts])
        embedded += time.perf_counter() - start
        start = time.perf_counter()
        for temporal in TEMPORAL:
            if temporal == measures.MAX_SCORE:
                scores = np.einsum("nkd,cd->nkc", measures.normalised(frames), names).max(axis=1)
            else:
                scores = measures.normalised(measures.Embedded(frames, sequences).vectors(temporal)) @ names.T
            (scores.argmax(axis=1) == labels).mean()
        classified += time.perf_counter() - start
        if concept == OBJECTS:
            objects = sequences
    captions = measures.normalised(encode([WORDS[video % len(WORDS)] for video in range(size)]))
    start = time.perf_counter()
    scores = captions @ measures.normalised(objects).T
    (np.argsort(-scores, axis=1)[:, 0] == np.arange(size)).mean()
    retrieved = time.perf_counter() - start
    return {"encoded": encode.texts, "embedding_s": embedded, "cells_s": classified, "retrieval_s": retrieved}


class Memory:
    """The largest growth of the process's own memory in MiB; pages of mapped files, which give way, are not counted."""

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


def alone(way: str, size: int) -> dict[str, float]:
    """In a process of its own, so that its peak is its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", way, "--sizes", str(size)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000])
    parser.add_argument("--plain", type=int, default=8_000)
    parser.add_argument("--one", choices=["ours", "plain"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        with Memory() as memory:
            found = {"ours": ours, "plain": plain}[given.one](given.sizes[0])
        print(json.dumps({**found, "grown_mib": memory.grown}))
        return
    for size in given.sizes:
        found = alone("ours", size)
        told = {"videos": size, "texts": size * (FRAMES + 1) * 4, "n_x_n_mib": round(size * size * 4 / 2**20)}
        print(json.dumps({**told, **_rounded(found)}))
    mine, theirs = alone("ours", given.plain), alone("plain", given.plain)
    ratios = {key: round(theirs[key] / mine[key], 2) for key in mine}
    both = {"ours": _rounded(mine), "plain": _rounded(theirs)}
    print(json.dumps({"videos": given.plain, "plain_over_ours": ratios, **both}))


def _rounded(found: dict[str, float]) -> dict[str, float]:
    return {key: round(value, 1) for key, value in found.items()}


if __name__ == "__main__":
    main()
