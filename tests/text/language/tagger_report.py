"""How much of hand-labelled captions a tagger gets right, word by word."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from foilworks.core.text.language.tokens import Token

LABELS = {"V": ("VERB",), "N": ("NOUN", "PROPN"), "P": ("ADP",)}
NAMES = {"V": "verb", "N": "noun", "P": "preposition"}


class Tags(Protocol):
    name: str

    def tag(self, text: str) -> Sequence[Token]: ...


@dataclass(frozen=True)
class Miss:
    """A labelled word that the tagger takes for something else."""

    word: str
    wanted: str
    got: str
    caption: str


@dataclass(frozen=True)
class Recall:
    found: int
    total: int

    @property
    def share(self) -> float:
        return self.found / self.total


def parse_labelled(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    """(caption, label of each of its words or "") of lines such as "a man_N folds_V"; `#` begins a comment."""
    captions = []
    for line in lines:
        pieces = [piece.partition("_") for piece in line.split() if not line.startswith("#")]
        if pieces:
            captions.append((" ".join(word for word, _, _ in pieces), [label for _, _, label in pieces]))
    return captions


def recall(tagger: Tags, labelled: Iterable[tuple[str, list[str]]]) -> tuple[dict[str, Recall], list[Miss]]:
    """{"verb": Recall, "noun": …, "preposition": …} and every labelled word that was missed.

    Words are those between blanks; a tagger's tokens are found by their offsets.
    """
    counts = {label: [0, 0] for label in LABELS}
    misses = []
    for caption, labels in labelled:
        parts = {token.start: token.part for token in tagger.tag(caption)}
        at = 0
        for word, label in zip(caption.split(" "), labels, strict=True):
            if label:
                got = parts.get(at, "none")
                counts[label][0] += got in LABELS[label]
                counts[label][1] += 1
                if got not in LABELS[label]:
                    misses.append(Miss(word, NAMES[label], got, caption))
            at += len(word) + 1
    return {NAMES[label]: Recall(*pair) for label, pair in counts.items()}, misses
