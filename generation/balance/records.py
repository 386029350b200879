"""What is chosen from, and what came of choosing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from text.tokens import words

Change = dict[str, int]
Texts = Sequence[tuple[str, str]]

# A subtest of which less is left has no feasible balance: what remains stands for nothing any more.
FEASIBLE_SHARE = 0.1
FEASIBLE_PAIRS = 20


@dataclass(frozen=True)
class Pair:
    """A caption with one foil that may be kept. `group`: what at most so many foils are kept of (its caption)."""

    id: str
    group: str
    caption: str
    foil: str


@dataclass(frozen=True)
class WordCount:
    """How often one word is replaced (it stands in the caption and not in the foil) and put in instead."""

    word: str
    in_captions: int
    in_foils: int

    @property
    def excess(self) -> int:
        """More than 0: only captions have it so often, so it gives the caption away; less than 0: the foil."""
        return self.in_captions - self.in_foils


@dataclass(frozen=True)
class Chosen:
    """Ids that stay and ids that leave, each in the order given. `at_most`: no choice whatever keeps more pairs (or
    groups, where groups stay whole)."""

    kept: tuple[str, ...]
    lost: tuple[str, ...]
    at_most: int

    @property
    def share(self) -> float:
        total = len(self.kept) + len(self.lost)
        return len(self.kept) / total if total else 0.0


def change(caption: str, foil: str) -> Change:
    """word -> how often more the caption has it than the foil; words that both have equally often are left out."""
    counts: Change = {}
    for word in words(caption):
        counts[word] = counts.get(word, 0) + 1
    for word in words(foil):
        counts[word] = counts.get(word, 0) - 1
    return {word: times for word, times in counts.items() if times}


def caption_groups(pairs: Texts) -> list[str]:
    """(n,) a name per caption: the same words are the same caption; a text without a word is its own."""
    return [" ".join(words(caption)) or caption for caption, _ in pairs]


def word_counts(pairs: Iterable[Pair]) -> list[WordCount]:
    """Every word that some pair replaces or puts in; the most lopsided first, then by word."""
    replaced: dict[str, int] = {}
    put_in: dict[str, int] = {}
    for pair in pairs:
        for word, times in change(pair.caption, pair.foil).items():
            side = replaced if times > 0 else put_in
            side[word] = side.get(word, 0) + abs(times)
    rows = [WordCount(word, replaced.get(word, 0), put_in.get(word, 0)) for word in replaced.keys() | put_in.keys()]
    return sorted(rows, key=lambda row: (-abs(row.excess), row.word))


def selected_pairs(pairs: Sequence[Pair], kept: Iterable[str]) -> list[Pair]:
    """The pairs whose ids are kept, in their order."""
    wanted = set(kept)
    return [pair for pair in pairs if pair.id in wanted]
