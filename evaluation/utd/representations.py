"""Build a video's texts by concept (UTD, Sec. 3.3.1), and their vectors, cached by text."""

import fcntl
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.utd.concepts import DESCRIPTION, SEQUENCE, SUMMARY, frame_text, sequence_text
from evaluation.utd.instructions import FRAME, INSTRUCTIONS, TARGET, instructed
from evaluation.utd.measures import Embedded, Gathered

KEY = np.dtype("S16")
# Recent keys are found in a dictionary; at this number, they are merged into the sorted ones.
RECENT = 65_536
Floats = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Floats]
Heard = Callable[[int], None]
Raw = Mapping[str, str]


def nobody(done: int) -> None:
    """Do nothing with the progress."""


class TextVectors:
    """The vectors of one encoder in `folder`; `encode` computes missing ones, `batch` texts at a time.

    `vectors.f32` has rows of d float32 and `keys` the first 16 bytes of the SHA-256 of each row's text, both in order
    of arrival. Readers map the file; writers append under a lock. A row without a key, or the reverse, comes from a
    killed worker: the next writer cuts it off.
    """

    def __init__(self, folder: Path, encode: Encode, *, batch: int = 256) -> None:
        self.folder, self.batch, self._encode = folder, batch, encode
        folder.mkdir(parents=True, exist_ok=True)
        self.vectors, self.keys = folder / "vectors.f32", folder / "keys"
        self._sorted, self._order = np.zeros(0, KEY), np.zeros(0, np.int64)
        self._recent: dict[bytes, int] = {}
        self.count = self.width = 0

    def places(self, texts: Sequence[str], heard: Heard = nobody) -> NDArray[np.int64]:
        """Return the rows of `table()` of the texts, (m,); new texts are embedded, short ones first.

        `heard(n)` is called with the number of new texts that are embedded so far.
        """
        self._read()
        keys = [text_key(text) for text in texts]
        found = self._find(keys)
        new = {keys[at]: texts[at] for at in np.flatnonzero(found < 0).tolist()}
        order = sorted(new, key=lambda key: (len(new[key]), new[key]))
        for start in range(0, len(order), self.batch):
            some = order[start : start + self.batch]
            self._append(some, self._encode([new[key] for key in some]))
            heard(start + len(some))
        return self._find(keys) if new else found

    def table(self) -> Any:
        """Return (u, d) float32, memory-mapped."""
        if not self.count:
            return np.zeros((0, max(1, self.width)), np.float32)
        return np.memmap(self.vectors, np.float32, "r", shape=(self.count, self.width))

    def _find(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Return -1 for an unknown key."""
        found = np.full(len(keys), -1, dtype=np.int64)
        if len(self._sorted):
            # Keys have one length, so dropped trailing zeros cannot make two of them equal.
            wanted = np.array(keys, dtype=KEY)
            at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
            there = self._sorted[at] == wanted
            found[there] = self._order[at[there]]
        for place, key in enumerate(keys):
            if (row := self._recent.get(key)) is not None:
                found[place] = row
        return found

    def _read(self) -> None:
        """Read what any process has added since."""
        width = self.folder / "width"
        if not width.exists():
            return
        self.width = int(width.read_text())
        whole = min(_size(self.keys) // KEY.itemsize, _size(self.vectors) // (4 * self.width))
        if whole - self.count > RECENT:
            self._sort(np.fromfile(self.keys, KEY, whole))
        elif whole > self.count:
            with self.keys.open("rb") as file:
                file.seek(self.count * KEY.itemsize)
                data = file.read((whole - self.count) * KEY.itemsize)
            for at in range(0, len(data), KEY.itemsize):
                self._recent[data[at : at + KEY.itemsize]] = self.count + at // KEY.itemsize
        self.count = whole
        if len(self._recent) > RECENT:
            self._sort(np.fromfile(self.keys, KEY, whole))

    def _sort(self, keys: NDArray[np.bytes_]) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]
        self._recent = {}

    def _append(self, keys: Sequence[bytes], rows: Floats) -> None:
        with self._locked():
            if not (self.folder / "width").exists():
                (self.folder / "width").write_text(str(rows.shape[1]))
            self._read()
            fresh = np.flatnonzero(self._find(keys) < 0).tolist()
            for path, row_bytes, data in (
                (self.vectors, 4 * self.width, np.ascontiguousarray(rows[fresh], np.float32).tobytes()),
                (self.keys, KEY.itemsize, b"".join(keys[at] for at in fresh)),
            ):
                with path.open("ab") as file:
                    file.truncate(self.count * row_bytes)
                    file.write(data)
            self._read()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def text_key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[: KEY.itemsize]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def nothing(texts: Sequence[str]) -> None:
    """Do nothing with the progress."""


@dataclass(frozen=True)
class Texts:
    """Texts of n videos and one concept: `frames` (n lists of k) and `sequences` (n)."""

    frames: Sequence[Sequence[str]]
    sequences: Sequence[str]


def texts_of(videos: Sequence[Sequence[Raw]], concept: str) -> Texts:
    """Build the texts of one concept. `videos`: the raw answers of each frame by concept, in order.

    A sequence of whole descriptions would be too long, so it consists of the 15-word summaries. EvaluationError: a
    frame that lacks one, or a different number of frames.
    """
    counts = {len(frames) for frames in videos}
    if len(counts) > 1:
        raise EvaluationError(f"videos have {min(counts)} to {max(counts)} frames; describe all with the same number")
    said = SUMMARY if concept == DESCRIPTION else concept
    try:
        single = [[frame_text(concept, raw[concept]) for raw in frames] for frames in videos]
        parts = [[frame_text(said, raw[said]) for raw in frames] for frames in videos]
    except KeyError as error:
        raise EvaluationError(f"a frame has no {error.args[0]}; describe the videos to the end first") from error
    return Texts(single, [sequence_text(frames) for frames in parts])


@dataclass(frozen=True)
class Embedding:
    """Embeds texts with one encoder; `heard(n)` receives the number of new texts, `seen` all texts."""

    vectors: TextVectors
    heard: Heard = nobody
    seen: Callable[[Sequence[str]], None] = nothing

    def rows(self, texts: Sequence[str], instruction: str) -> Gathered:
        """Return (m, d)."""
        places = self._places(texts, instruction)
        return Gathered(self.vectors.table(), places)

    def videos(self, chunks: Iterable[Texts], task: str, concept: str) -> Embedded:
        """Return the vectors of frames and sequences, each under its instruction (UTD, Tables F.2 and F.3).

        The videos come in chunks, so that memory holds only the texts of one chunk.
        """
        told = INSTRUCTIONS[task][concept]
        frames, sequences = [], []
        for texts in chunks:
            flat = [text for said in texts.frames for text in said]
            frames.append(self._places(flat, told[FRAME]).reshape(len(texts.frames), -1))
            sequences.append(self._places(texts.sequences, told[SEQUENCE]))
        if not frames:
            raise EvaluationError("there is no described video; describe some first")
        table = self.vectors.table()
        return Embedded(Gathered(table, np.concatenate(frames)), Gathered(table, np.concatenate(sequences)))

    def sequences(self, chunks: Iterable[Texts], instruction: str) -> Gathered:
        """Return only the sequences, (n, d), under an instruction of (UTD, Table F.4)."""
        found = [self._places(texts.sequences, instruction) for texts in chunks]
        return Gathered(self.vectors.table(), np.concatenate(found))

    def targets(self, names: Sequence[str], task: str) -> dict[str, Gathered]:
        """Return class names or captions: {"frame": (c, d), "sequence": (c, d)}."""
        return {form: self.rows(names, told) for form, told in INSTRUCTIONS[task][TARGET].items()}

    def _places(self, texts: Sequence[str], instruction: str) -> NDArray[np.int64]:
        place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        told = [instructed(instruction, text) for text in place]
        self.seen(told)
        rows = self.vectors.places(told, self.heard)
        return rows[np.array([place[text] for text in texts], dtype=np.int64)]
