"""Find the hard foil of a multiple-choice item: the changed caption among captions of other videos (contrast sets,
Sec. D.1). Pure.

The fact `hard_foil` of an item gives its index among the foils. Else the item's file marks it: `c_label` is the number
of the ending that the contrast set put in, `label` that of the true one. In files with `label` alone, the foil with the
fewest changed words is the hard one, if the nearest foils of the subtest are edits at all.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from statistics import median
from typing import Any

from foilworks.core.text.diff import changed_words, compared_words

# What a foil of a multiple-choice item is: the changed caption, or the caption of another video.
HARD, RANDOM = "hard", "random"
STATED, MARKED, NEAREST = "fact", "c_label", "nearest"
# The fact of an item: the index of its hard foil among its foils, or REMOVED.
HARD_FOIL = "hard_foil"
# The hard foil was invalid and dropped out, so no foil of the item is one.
REMOVED = -1
# Of the words of a caption. On the published sets the nearest foil changes .15 (median), the next one .75.
MAX_CHANGED = 0.5


@dataclass(frozen=True)
class Candidates:
    """What the rule reads of an item. `positions`: where each foil was before invalid ones dropped out."""

    subtest: str
    caption: str
    foils: tuple[str, ...]
    extra: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    positions: Sequence[int] | None = None

    @property
    def places(self) -> Sequence[int]:
        return range(len(self.foils)) if self.positions is None else self.positions


@dataclass(frozen=True)
class HardFoil:
    """`index` among the foils, or REMOVED; `source`: how it is known."""

    index: int
    source: str


def candidates_of(record: Mapping[str, Any]) -> Candidates:
    """Return what the rule reads of a frozen record."""
    return Candidates(
        record["subtest"],
        record["caption"],
        tuple(record["foils"]),
        record.get("extra") or {},
        record.get("facts") or {},
        record.get("foil_positions"),
    )


def hard_foils(items: Iterable[Candidates]) -> list[HardFoil | None]:
    """Return the hard foil of each item, None if all its foils count alike."""
    item_hard_foils: list[HardFoil | None] = []
    nearest: dict[int, tuple[str, int, float]] = {}
    for at, item in enumerate(items):
        item_hard_foils.append(stated_hard_foil(item))
        if item_hard_foils[at] is None and may_have_nearest(item):
            nearest[at] = (item.subtest, *_nearest(item.caption, item.foils))
    shares: dict[str, list[float]] = defaultdict(list)
    for subtest, _index, share in nearest.values():
        shares[subtest].append(share)
    edited = {name for name, subtest_shares in shares.items() if median(subtest_shares) < MAX_CHANGED}
    for at, (subtest, index, _share) in nearest.items():
        if subtest in edited:
            item_hard_foils[at] = HardFoil(index, NEAREST)
    return item_hard_foils


def may_have_nearest(item: Candidates) -> bool:
    """Report whether the nearest foil may be the hard one: the file numbers the caption, and no fact denies it."""
    is_numbered = len(item.foils) > 1 and _number(item.extra.get("label")) is not None
    return is_numbered and "hard_foil" not in item.facts


def is_multiple_choice(item: Candidates) -> bool:
    """Report whether the item's texts are meant for one choice: it states its hard foil, or the number of its caption.

    The fact `hard_foil` is null for an item whose foils are all captions of other videos.
    """
    return len(item.foils) > 1 and ("hard_foil" in item.facts or _number(item.extra.get("label")) is not None)


def stated_roles(item: Candidates) -> list[str]:
    """Return HARD or RANDOM for each foil, as the item's fact or file states it; "" for each if it states nothing."""
    hard_foil = stated_hard_foil(item)
    if hard_foil is None and "hard_foil" not in item.facts:
        return [""] * len(item.foils)
    return [HARD if hard_foil and at == hard_foil.index else RANDOM for at in range(len(item.foils))]


def stated_hard_foil(item: Candidates) -> HardFoil | None:
    """Return the hard foil that the item's fact or file states; None if it states none."""
    positions = item.places
    if item.facts.get(HARD_FOIL) == REMOVED:
        return HardFoil(REMOVED, STATED)
    stated_position = _number(item.facts.get(HARD_FOIL))
    if stated_position is not None:
        return HardFoil(positions.index(stated_position) if stated_position in positions else REMOVED, STATED)
    label, changed = _number(item.extra.get("label")), _number(item.extra.get("c_label"))
    if label is None or changed is None or label == changed:
        return None
    position = changed - (changed > label)
    return HardFoil(positions.index(position) if position in positions else REMOVED, MARKED)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@lru_cache(maxsize=20_000)
def _nearest(caption: str, foils: tuple[str, ...]) -> tuple[int, float]:
    """Return the foil with the fewest changed words, the most similar letters among equals; and its share of words."""
    changes = [changed_words(caption, foil) for foil in foils]
    first = [at for at, n in enumerate(changes) if n == min(changes)]
    if len(first) > 1:
        first.sort(key=lambda at: -SequenceMatcher(None, caption, foils[at]).ratio())
    return first[0], min(changes) / max(1, len(compared_words(caption)))
