"""Count the texts of a subtest one item at a time, without keeping them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from foilworks.core.text.tokens import unseen_by_words
from generation.balance.balanced_pairs import caption_groups

TOP_UNJUDGED = 5


@dataclass
class TextCounts:
    """Counts of the texts of a subtest, and the first pairs that no probe of words can judge."""

    n_items: int = 0
    n_pairs: int = 0
    n_unjudged: int = 0
    unjudged: list[dict[str, str]] = field(default_factory=list)
    _captions: set[int] = field(default_factory=set)

    def add(self, id_: str, caption: str, foils: Sequence[str]) -> None:
        self.n_items += 1
        self.n_pairs += len(foils)
        # Hashes, because the captions of a large release take much memory.
        self._captions.add(hash(caption_groups([(caption, "")])[0]))
        for foil in foils:
            if unseen_by_words(caption, foil):
                self.n_unjudged += 1
                if len(self.unjudged) < TOP_UNJUDGED:
                    self.unjudged.append({"id": id_, "caption": caption, "foil": foil})

    def as_row(self) -> dict[str, Any]:
        names = ("n_items", "n_pairs", "n_unjudged", "unjudged")
        return {"n_captions": len(self._captions), **{name: getattr(self, name) for name in names}}
