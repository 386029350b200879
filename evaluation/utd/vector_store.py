"""Store the vectors of texts in blocks on disk: each text is embedded once, old blocks are evicted by size."""

import fcntl
import hashlib
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.utd.vector_formats import FLOAT32, SUFFIXES

KEY = np.dtype("S16")
# Recent keys are found in a dictionary; at this number, they are merged into the sorted ones.
RECENT = 65_536
BLOCK_BYTES = 2**30
# A row is numbered by its block and its place there, so that rows keep their numbers when another block is evicted.
PLACE_BITS = 32
PLACE_MASK = (1 << PLACE_BITS) - 1
# Names of version 0.2, which had one block.
OLD_KEYS, OLD_VECTORS = "keys", "vectors.f32"
Floats = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Floats]
Heard = Callable[[int], None]


def nobody(done: int) -> None:
    """Do nothing with the progress."""


class TextVectors:
    """The vectors of one encoder in `folder`; `encode` computes missing ones, `batch` texts at a time.

    Block N is `N.f32` (rows of d numbers; `N.f16` if `precision` is float16) and `N.keys`, the first 16 bytes of the
    SHA-256 of each row's text, both in order of arrival. Readers map the blocks; writers append under a lock. A row
    without a key, or the reverse, comes from a killed worker: the next writer cuts it off. Blocks of a folder that an
    object of this class has open are not evicted.
    """

    def __init__(self, folder: Path, encode: Encode, *, batch: int = 256, precision: str = FLOAT32) -> None:
        self.folder, self.batch, self._encode = folder, batch, encode
        self.dtype, self.suffix = np.dtype(precision), SUFFIXES[precision]
        folder.mkdir(parents=True, exist_ok=True)
        # Locked as long as this object exists.
        users = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o644)
        weakref.finalize(self, os.close, users)
        fcntl.flock(users, fcntl.LOCK_SH)
        self._sorted, self._order = np.zeros(0, KEY), np.zeros(0, np.int64)
        self._recent: dict[bytes, int] = {}
        self.counts: dict[int, int] = {}
        self.width = 0
        with self._locked():
            _rename_old(folder)

    def row_numbers(self, texts: Sequence[str], heard: Heard = nobody) -> NDArray[np.int64]:
        """Return the rows of `table()` of the texts, (m,); new texts are embedded, short ones first.

        `heard(n)` is called with the number of new texts that are embedded so far.
        """
        self._read()
        keys = [text_key(text) for text in texts]
        stored_rows = self._find(keys)
        new = {keys[at]: texts[at] for at in np.flatnonzero(stored_rows < 0).tolist()}
        order = sorted(new, key=lambda key: (len(new[key]), new[key]))
        for start in range(0, len(order), self.batch):
            some = order[start : start + self.batch]
            self._append(some, self._encode([new[key] for key in some]))
            heard(start + len(some))
        rows = self._find(keys) if new else stored_rows
        for block in np.unique(rows >> PLACE_BITS).tolist():
            os.utime(self._block(block)[0])
        return rows

    def table(self) -> "BlockTable":
        """Return all rows, memory-mapped."""
        maps = {
            block: np.memmap(self._block(block)[0], self.dtype, "r", shape=(count, self.width))
            for block, count in self.counts.items()
            if count
        }
        return BlockTable(maps, max(1, self.width))

    def _block(self, number: int) -> tuple[Path, Path]:
        name = f"{number:05}"
        return self.folder / f"{name}{self.suffix}", self.folder / f"{name}.keys"

    def _find(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Return -1 for an unknown key."""
        rows = np.full(len(keys), -1, dtype=np.int64)
        if len(self._sorted):
            # Keys have one length, so dropped trailing zeros cannot make two of them equal.
            sought_keys = np.array(keys, dtype=KEY)
            at = np.minimum(np.searchsorted(self._sorted, sought_keys), len(self._sorted) - 1)
            is_stored = self._sorted[at] == sought_keys
            rows[is_stored] = self._order[at[is_stored]]
        for index, key in enumerate(keys):
            if (row := self._recent.get(key)) is not None:
                rows[index] = row
        return rows

    def _read(self) -> None:
        """Read what any process has added since."""
        width = self.folder / "width"
        if not width.exists():
            return
        self.width = int(width.read_text())
        row_bytes = self.dtype.itemsize * self.width
        for path in sorted(self.folder.glob("*.keys")):
            number = int(path.stem)
            vectors, keys = self._block(number)
            n_read, n_complete = (
                self.counts.get(number, 0),
                min(_size(keys) // KEY.itemsize, _size(vectors) // row_bytes),
            )
            with keys.open("rb") as file:
                file.seek(n_read * KEY.itemsize)
                data = file.read(max(0, n_complete - n_read) * KEY.itemsize)
            first = (number << PLACE_BITS) + n_read
            for at in range(0, len(data), KEY.itemsize):
                self._recent[data[at : at + KEY.itemsize]] = first + at // KEY.itemsize
                if len(self._recent) > RECENT:
                    self._sort()
            self.counts[number] = n_complete

    def _sort(self) -> None:
        keys = np.concatenate([self._sorted, np.array(list(self._recent), KEY)])
        rows = np.concatenate([self._order, np.array(list(self._recent.values()), np.int64)])
        order = np.argsort(keys, kind="stable")
        self._sorted, self._order, self._recent = keys[order], rows[order], {}

    def _append(self, keys: Sequence[bytes], rows: Floats) -> None:
        with self._locked():
            if not (self.folder / "width").exists():
                (self.folder / "width").write_text(str(rows.shape[1]))
            self._read()
            fresh = np.flatnonzero(self._find(keys) < 0).tolist()
            row_bytes = self.dtype.itemsize * self.width
            last = max(self.counts, default=0)
            if self.counts.get(last, 0) * row_bytes >= BLOCK_BYTES:
                last += 1
            count, (vectors, names) = self.counts.get(last, 0), self._block(last)
            for path, size, data in (
                (vectors, row_bytes, np.ascontiguousarray(rows[fresh], self.dtype).tobytes()),
                (names, KEY.itemsize, b"".join(keys[at] for at in fresh)),
            ):
                with path.open("ab") as file:
                    file.truncate(count * size)
                    file.write(data)
            self._read()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class BlockTable:
    """Rows of several blocks as one table of d columns; `table[rows]` reads float32."""

    def __init__(self, blocks: dict[int, Any], width: int) -> None:
        self.blocks = blocks
        self.shape = (sum(len(rows) for rows in blocks.values()), width)

    def __getitem__(self, at: Any) -> Floats:
        rows = np.asarray(at, dtype=np.int64)
        numbers = rows >> PLACE_BITS
        vectors = np.empty((*rows.shape, self.shape[1]), np.float32)
        for number in np.unique(numbers).tolist():
            in_block = numbers == number
            # A negative row is of no text: its vector is zero.
            vectors[in_block] = self.blocks[number][rows[in_block] & PLACE_MASK] if number >= 0 else 0.0
        return vectors


def evict(root: Path, limit: int) -> int:
    """Delete the least recently used blocks of all encoders below `root` until they take at most `limit` bytes.

    Encoders that a process has open are skipped. Return the size that remains, in bytes.
    """
    blocks = [path for suffix in SUFFIXES.values() for path in root.glob(f"*/*{suffix}")]
    total = sum(map(_size, blocks))
    for path in sorted(blocks, key=lambda path: (path.stat().st_mtime_ns, path)):
        if total <= limit:
            break
        with (path.parent / "users").open("w") as users:
            if not _is_free(users):
                continue
            total -= _size(path)
            path.with_suffix(".keys").unlink(missing_ok=True)
            path.unlink()
    return total


def _is_free(users: Any) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _rename_old(folder: Path) -> None:
    if (folder / OLD_VECTORS).exists() and (folder / OLD_KEYS).exists():
        (folder / OLD_VECTORS).rename(folder / "00000.f32")
        (folder / OLD_KEYS).rename(folder / "00000.keys")


def text_key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[: KEY.itemsize]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
