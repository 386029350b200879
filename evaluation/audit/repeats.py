"""Find texts and videos that repeat, from 64-bit hashes: 8 bytes per text, for files of any length.

Two different texts of 10^6 share a hash with a probability of 3e-8.
"""

import hashlib
from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foilworks.core.corpus.records import TextRecord

Hashes = NDArray[np.uint64]
TEST_SPLITS = frozenset({"test", "val", "validation", "dev", "eval"})
SHOWN = 5
NO_VIDEO = 0


def normal(words_of_text: list[str], text: str) -> str:
    """Return the words of a text; of a text without words, the text."""
    return " ".join(words_of_text) or text


def hashed(*texts: str) -> int:
    """Return 64 bits of the texts, never `NO_VIDEO`."""
    joined_text = "\0".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(joined_text).digest()[:8], "big") or 1


def _hashes() -> "array[int]":
    return array("Q")


@dataclass
class Repeats:
    """Hashes of all records.

    `n_same`: wrong texts with the words of their right text; `n_equal`: those with the same characters, too;
    `n_equal_without_video`: those of records that name no video; `n_twice`: items with a wrong text twice.
    """

    items: "array[int]" = field(default_factory=_hashes)
    captions: "array[int]" = field(default_factory=_hashes)
    captions_of_videos: "array[int]" = field(default_factory=_hashes)
    foils_of_videos: "array[int]" = field(default_factory=_hashes)
    videos: "array[int]" = field(default_factory=_hashes)
    splits: "array[int]" = field(default_factory=lambda: array("B"))
    where: "array[int]" = field(default_factory=_hashes)
    split_names: dict[str, int] = field(default_factory=dict)
    n_same: int = 0
    n_same_in_videos: int = 0
    n_equal: int = 0
    n_equal_without_video: int = 0
    n_twice: int = 0

    def add(self, record: TextRecord, right: list[str], wrongs: list[list[str]]) -> None:
        """Note a record and the words of its texts."""
        caption = normal(right, record.right)
        foils = [normal(foil_words, text) for foil_words, text in zip(wrongs, record.wrongs, strict=True)]
        # Without the names of the videos, the same statement can be about another one.
        clip = record.clip or (str(len(self.items)) if record.is_label else "")
        self.items.append(hashed(clip, record.question, caption, *sorted(foils)))
        self.captions.append(hashed(record.question, caption))
        self.videos.append(hashed(record.video) if record.video else NO_VIDEO)
        self.splits.append(self.split_names.setdefault(record.split, min(255, len(self.split_names))))
        self.where.append(record.where)
        n_equal = record.wrongs.count(record.right)
        self.n_equal += n_equal
        self.n_equal_without_video += 0 if record.video else n_equal
        self.n_same += sum(foil_words == right and bool(right) for foil_words in wrongs)
        self.n_twice += len(set(foils)) < len(foils)
        if record.video and not record.question:
            self.captions_of_videos.append(hashed(record.clip, caption))
            self.foils_of_videos.extend(hashed(record.clip, foil) for foil in foils)
            self.n_same_in_videos += foils.count(caption)

    def repeated_items(self) -> tuple[int, int, list[dict[str, int]]]:
        """Count the items that repeat an earlier one, and those of them that name no video.

        Of the first of them, return number (from 1) and line.
        """
        _, first = np.unique(_array(self.items), return_index=True)
        is_repeat = np.ones(len(self.items), dtype=bool)
        is_repeat[first] = False
        repeats = [{"item": int(at) + 1, "line": int(self.where[at])} for at in np.flatnonzero(is_repeat)[:SHOWN]]
        return int(is_repeat.sum()), int((is_repeat & (_array(self.videos) == NO_VIDEO)).sum()), repeats

    def distinct_captions(self) -> int:
        return len(np.unique(_array(self.captions)))

    def contradictions(self) -> int:
        """Count the foils that are a caption of another item of the same video."""
        is_caption = np.isin(_array(self.foils_of_videos), _array(self.captions_of_videos))
        return int(is_caption.sum()) - self.n_same_in_videos

    def leaks(self) -> dict[str, int] | None:
        """Count the items of test splits whose video or text is in another split; None with fewer than two splits."""
        names = [name for name in self.split_names if name]
        tests = [self.split_names[name] for name in names if name.lower() in TEST_SPLITS]
        if len(names) < 2 or not tests:
            return None
        # With no training split, the later test splits are compared with the first.
        tests = tests if len(tests) < len(names) else tests[1:]
        is_test = np.isin(np.frombuffer(self.splits, dtype=np.uint8), tests)
        videos, captions = _array(self.videos), _array(self.captions)
        shared = np.isin(videos[is_test], videos[~is_test]) & (videos[is_test] != NO_VIDEO)
        in_both = np.isin(captions[is_test], captions[~is_test])
        return {"n": int(is_test.sum()), "videos": int(shared.sum()), "captions": int(in_both.sum())}


def _array(values: "array[int]") -> Hashes:
    return np.frombuffer(values, dtype=np.uint64) if len(values) else np.empty(0, dtype=np.uint64)
