"""Compose multiple-choice items: a caption, one hard foil, and captions of other videos (contrast sets, Secs. 4.1 and
D). Pure.

The hard foil replaces one negative of the caption's Random item; the others are kept. The replaced one is drawn by
seed and caption alone, so all versions of an item (gender, verbs …) keep the same random captions. Draws are hashes:
they depend on no order and no row number.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from foilworks.core.corpus.rules.hard_foils import HARD_FOIL

HARD, RANDOM = "hard", "random"
# Facts of a composed item: its sources; whether each foil is hard or random.
COMPOSED, ROLES = "composed", "roles"
END = ".!? "


class Why(StrEnum):
    """Why a caption gets no item."""

    NOT_LIVE = "not_live"
    COUNT = "count"
    TRUE = "true"
    REPEATED = "repeated"
    NO_HARD = "no_hard"
    UNUSABLE = "unusable"
    KEY_TAKEN = "key_taken"


@dataclass(frozen=True)
class RandomItem:
    """A caption with its random captions. `name` and `key`: of the item; `true_texts`: the `plain` captions of the
    clip.
    """

    name: str
    key: str
    clip: str
    caption: str
    negatives: tuple[str, ...]
    true_texts: frozenset[str] = frozenset()
    caption_id: int = 0
    video_id: int = 0


@dataclass(frozen=True)
class HardOption:
    """A text that may become the hard foil. `made_by`: machine or person, "" if unknown. `group`: its candidates."""

    text: str
    reviewed: bool = True
    made_by: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    group: int | None = None


@dataclass(frozen=True)
class Composed:
    """An item to create; `replaced`: the index of the hard foil and of the negative that it replaces."""

    source: RandomItem
    foils: tuple[str, ...]
    replaced: int | None = None
    hard: HardOption | None = None

    @property
    def roles(self) -> list[str]:
        return [HARD if index == self.replaced else RANDOM for index in range(len(self.foils))]


def compose(item: RandomItem, options: Sequence[HardOption] | None, *, n_foils: int, seed: int) -> Composed | Why:
    """Return the item with a hard foil drawn from `options` (None: random captions only), or why there is none.

    Reviewed options come first. The replaced negative may be anything, because it is not part of the item.
    """
    if len(item.negatives) != n_foils:
        return Why.COUNT
    if options is not None and not options:
        return Why.NO_HARD
    replaced = None if options is None else replaced_negative(item, seed)
    remaining_negatives = [plain(text) for index, text in enumerate(item.negatives) if index != replaced]
    true = {plain(item.caption), *item.true_texts}
    if true.intersection(remaining_negatives):
        return Why.TRUE
    if len(set(remaining_negatives)) < len(remaining_negatives):
        return Why.REPEATED
    if options is None or replaced is None:
        return Composed(item, item.negatives)
    usable = [option for option in options if plain(option.text) not in true.union(remaining_negatives)]
    if not usable:
        return Why.UNUSABLE
    hard = min(
        usable, key=lambda option: (not option.reviewed, draw(seed, "hard", item.clip, item.caption, option.text))
    )
    foils = (*item.negatives[:replaced], hard.text, *item.negatives[replaced + 1 :])
    return Composed(item, foils, replaced, hard)


def replaced_negative(item: RandomItem, seed: int) -> int:
    """Return the index of the negative that a hard foil replaces: the same in all versions of the item."""
    return draw(seed, "replaced", item.clip, item.caption) % len(item.negatives)


def sample(items: Sequence[Composed], limit: int | None, seed: int) -> list[Composed]:
    """Draw `limit` of the items by the seed (None: all). They stay in their order."""
    if limit is None or len(items) <= limit:
        return list(items)
    ranked = sorted(
        items,
        key=lambda composed: draw(seed, "sample", composed.source.clip, composed.source.caption, composed.source.name),
    )
    sampled_names = {composed.source.name for composed in ranked[:limit]}
    return [composed for composed in items if composed.source.name in sampled_names]


def facts_of(item: Composed, *, random: str, hard: str, seed: int) -> dict[str, Any]:
    """Return the facts that mark a composed item. `random`, `hard`: the subtests that its foils came from."""
    composed: dict[str, Any] = {"random": item.source.name, "from": random}
    if item.hard is None:
        return {ROLES: item.roles, HARD_FOIL: None, COMPOSED: composed}
    made_by = {"made_by": item.hard.made_by} if item.hard.made_by else {}
    own = {**item.hard.facts, **made_by, ROLES: item.roles, HARD_FOIL: item.replaced}
    if "edited" in own:
        # Analyses read it per foil.
        own["edited"] = [own["edited"] if role == HARD else RANDOM for role in item.roles]
    return {**own, COMPOSED: {**composed, "hard": hard, "seed": seed}}


def draw(seed: int, *names: str) -> int:
    """Return a number from 0 to 2**64 - 1 that depends on the seed and the names only."""
    words = "\x1f".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def plain(text: str) -> str:
    """Return the text as captions are compared: without case, spacing and the final full stop."""
    return " ".join(text.split()).casefold().rstrip(END)
