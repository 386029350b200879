"""Find which foils are opposites: one removes the words that the other inserts. Count what is missing on one side."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foilworks.core.text.language.numbers import value_of
from generation.balance.balanced_pairs import Pair, change

# The foil without them, or with them, differs in other words, too: "shirtless", "in a red shirt".
DENIALS = ("not", "no", "without", "shirtless")


@dataclass(frozen=True)
class Replacement:
    """A foil, and the words that it removes and inserts: sorted, joined by blanks. Of counts, only their numbers."""

    pair: Pair
    removed: str
    inserted: str

    @property
    def opposites(self) -> tuple[str, str]:
        return min(self.removed, self.inserted), max(self.removed, self.inserted)

    @property
    def is_first(self) -> bool:
        """Return whether the caption has the first of both opposites; of mere order, whether it sorts first."""
        if self.removed == self.inserted:
            return self.pair.caption < self.pair.foil
        return self.removed < self.inserted


def replacement_of(pair: Pair) -> Replacement:
    """Return the pair with the words that its foil removes and inserts; both are empty if only their order changes."""
    changes = change(pair.caption, pair.foil)
    removed = {word for word, times in changes.items() if times > 0}
    inserted = {word for word, times in changes.items() if times < 0}
    # "one dog" and "two dogs": the noun only agrees with the count.
    counts = [{word for word in side if value_of(word) is not None} for side in (removed, inserted)]
    removed, inserted = counts if all(counts) else (removed, inserted)
    # "is not", "does not run": the verb only agrees with "not".
    denials = [{word for word in map(_denial, side) if word} for side in (removed, inserted)]
    removed, inserted = denials if bool(denials[0]) != bool(denials[1]) else (removed, inserted)
    return Replacement(pair, " ".join(sorted(removed)), " ".join(sorted(inserted)))


def _denial(word: str) -> str:
    """Return which denial a word is, or ""."""
    if word.endswith(("n't", "n’t")):
        return DENIALS[0]
    return word if word in DENIALS else ""


def opposed(rows: Sequence[Replacement], others: Sequence[Replacement]) -> list[Replacement]:
    """Return the rows whose inserted words are removed in return by one of `rows` or `others`."""
    sides = {(row.removed, row.inserted) for row in [*rows, *others]}
    return [row for row in rows if (row.inserted, row.removed) in sides]


def n_owed(excess: int, n: int) -> int:
    """Return how many of n foils are missing on the rarer side of a pair of opposites; `excess`: one side minus other.

    An excess of up to the square root of n stays: fair coins have it, and equal counts would give away the next answer.
    """
    return max(0, abs(excess) - round(n**0.5))


@dataclass(frozen=True)
class Unbalanced:
    """Captions with `frequent` have foils with `rare` too often: `n_missing` foils the other way would restore it."""

    frequent: str
    rare: str
    n_missing: int
    n_foils: int


def counts_of(pairs: Iterable[Pair]) -> Counter[tuple[str, str]]:
    """Return how many foils replace the first words by the second ones; not of foils that only move words."""
    replacements = map(replacement_of, pairs)
    return Counter((row.removed, row.inserted) for row in replacements if row.removed != row.inserted)


def unbalanced(pairs: Iterable[Pair]) -> list[Unbalanced]:
    """Return the pairs of opposites that are out of balance, most missing foils first."""
    counts, rows = counts_of(pairs), []
    for (removed, inserted), n in counts.items():
        n_back = counts[inserted, removed]
        missing = n_owed(n - n_back, n + n_back)
        if n > n_back and missing:
            rows.append(Unbalanced(removed, inserted, missing, n + n_back))
    return sorted(rows, key=lambda row: (-row.n_missing, row.frequent, row.rare))
