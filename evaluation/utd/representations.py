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
from evaluation.utd.concepts import SEQUENCE
from evaluation.utd.frame_forms import frame_form, sequence_form
from evaluation.utd.instructions import FRAME, INSTRUCTIONS, TARGET, instructed
from evaluation.utd.measures import NO_TEXT, Averaged, Embedded, Gathered
from evaluation.utd.needs import said_of
from evaluation.utd.procedure import AS_PUBLISHED, Procedure

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
    """Texts of n videos and one concept: `frames` (n lists of k), empty for a frame without one, and `sequences` (n).

    Either is empty if it was not asked for.
    """

    frames: Sequence[Sequence[str]]
    sequences: Sequence[str]


def texts_of(
    videos: Sequence[Sequence[Raw]], concept: str, procedure: Procedure = AS_PUBLISHED, kind: str = ""
) -> Texts:
    """Build the texts of one concept. `videos`: the raw answers of each frame by concept, in order. `kind`: only
    frames, or only sequences.

    A sequence of whole descriptions would be too long, so it consists of the 15-word summaries. EvaluationError: a
    frame that lacks one, or a different number of frames.
    """
    counts = {len(frames) for frames in videos}
    if len(counts) > 1:
        raise EvaluationError(f"videos have {min(counts)} to {max(counts)} frames; describe all with the same number")
    said = said_of(concept, SEQUENCE)
    single: list[list[str]] = []
    sequences: list[str] = []
    try:
        if kind != SEQUENCE:
            single = [[frame_form(concept, raw[concept], procedure) for raw in frames] for frames in videos]
        if kind != FRAME:
            sequences = [sequence_form(said, [raw[said] for raw in frames], procedure) for frames in videos]
    except KeyError as error:
        raise EvaluationError(f"a frame has no {error.args[0]}; describe the videos to the end first") from error
    return Texts(single, sequences)


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

    def means(self, texts: Sequence[Sequence[str]], instruction: str) -> Gathered:
        """Return (m, d): of each list of texts the mean of their vectors."""
        if all(len(some) == 1 for some in texts):
            return self.rows([some[0] for some in texts], instruction)
        flat = self._places([text for some in texts for text in some], instruction)
        places = np.full((len(texts), max(map(len, texts))), NO_TEXT)
        places[np.arange(places.shape[1]) < np.array([[len(some)] for some in texts])] = flat
        return Averaged(self.vectors.table(), places)

    def videos(self, chunks: Iterable[Texts], task: str, concept: str) -> Embedded:
        """Return the vectors of frames and sequences, each under its instruction (UTD, Tables F.2 and F.3).

        The videos come in chunks, so that memory holds only the texts of one chunk.
        """
        told = INSTRUCTIONS[task][concept]
        frames, sequences = [], []
        for texts in chunks:
            flat = [text for said in texts.frames for text in said]
            if flat:
                frames.append(self._places(flat, told[FRAME]).reshape(len(texts.frames), -1))
            if texts.sequences:
                sequences.append(self._places(texts.sequences, told[SEQUENCE]))
        if not frames and not sequences:
            raise EvaluationError("there is no described video; describe some first")
        table = self.vectors.table()
        ordered = np.concatenate(sequences) if sequences else np.full(sum(map(len, frames)), NO_TEXT)
        single = np.concatenate(frames) if frames else ordered[:, None]
        return Embedded(Gathered(table, single), Gathered(table, ordered))

    def sequences(self, chunks: Iterable[Texts], instruction: str) -> Gathered:
        """Return only the sequences, (n, d), under an instruction of (UTD, Table F.4)."""
        found = [self._places(texts.sequences, instruction) for texts in chunks]
        return Gathered(self.vectors.table(), np.concatenate(found))

    def targets(self, texts: Sequence[Sequence[str]], task: str) -> dict[str, Gathered]:
        """Return the texts of classes, or captions: {"frame": (c, d), "sequence": (c, d)}."""
        return {form: self.means(texts, told) for form, told in INSTRUCTIONS[task][TARGET].items()}

    def _places(self, texts: Sequence[str], instruction: str) -> NDArray[np.int64]:
        """Return the row of each text, NO_TEXT for an empty one."""
        place = {text: at for at, text in enumerate(dict.fromkeys(text for text in texts if text))}
        told = [instructed(instruction, text) for text in place]
        self.seen(told)
        rows = np.append(self.vectors.places(told, self.heard), NO_TEXT)
        return rows[np.array([place.get(text, -1) for text in texts], dtype=np.int64)]
