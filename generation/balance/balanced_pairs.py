"""Records of a choice: the pairs, the word counts and the result."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foilworks.core.text.tokens import words

Change = dict[str, int]
Texts = Sequence[tuple[str, str]]

# With a smaller share the balance is not feasible: the rest no longer represents the subtest.
FEASIBLE_SHARE = 0.1
FEASIBLE_PAIRS = 20


@dataclass(frozen=True)
class Pair:
    """A caption with one foil to choose or not. `group`: its caption, which limits the number of chosen foils.
    `video`: the name of its video, "" if unknown."""

    id: str
    group: str
    caption: str
    foil: str
    video: str = ""


@dataclass(frozen=True)
class WordCount:
    """How often a word is replaced (it is in the caption but not in the foil) and inserted instead."""

    word: str
    in_captions: int
    in_foils: int

    @property
    def excess(self) -> int:
        """Return the difference: above 0, the word indicates a caption; below 0, a foil."""
        return self.in_captions - self.in_foils


@dataclass(frozen=True)
class PairSelection:
    """A choice: ids that stay and ids that are left out, in input order. `at_most`: no choice keeps more pairs (or
    groups, if groups stay whole)."""

    selected: tuple[str, ...]
    lost: tuple[str, ...]
    at_most: int

    @property
    def share(self) -> float:
        total = len(self.selected) + len(self.lost)
        return len(self.selected) / total if total else 0.0


def change(caption: str, foil: str) -> Change:
    """Return word -> how much more often the caption has it than the foil, without words of equal frequency."""
    counts: Change = {}
    for word in words(caption):
        counts[word] = counts.get(word, 0) + 1
    for word in words(foil):
        counts[word] = counts.get(word, 0) - 1
    return {word: times for word, times in counts.items() if times}


def caption_groups(pairs: Texts) -> list[str]:
    """Return (n,) a name per caption: the same words are the same caption; a text without a word is its own."""
    return [" ".join(words(caption)) or caption for caption, _ in pairs]


def word_counts(pairs: Iterable[Pair]) -> list[WordCount]:
    """Return every word that a pair replaces or inserts, the most unbalanced first, then by word."""
    replaced: dict[str, int] = {}
    put_in: dict[str, int] = {}
    for pair in pairs:
        for word, times in change(pair.caption, pair.foil).items():
            side = replaced if times > 0 else put_in
            side[word] = side.get(word, 0) + abs(times)
    rows = [WordCount(word, replaced.get(word, 0), put_in.get(word, 0)) for word in replaced.keys() | put_in.keys()]
    return sorted(rows, key=lambda row: (-abs(row.excess), row.word))


def selected_pairs(pairs: Sequence[Pair], ids: Iterable[str]) -> list[Pair]:
    """Return the chosen pairs, in order."""
    selected_ids = set(ids)
    return [pair for pair in pairs if pair.id in selected_ids]
