"""Items of two clips (Winoground, Vinoground): two items that share a pair name, each with the other's caption as its
foil. Pure.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foilworks.core.corpus.records import ItemRecord

# Which half of a published pair is clip 0, where the order of the ids would say otherwise (Vinoground).
_SECOND = "_neg"


@dataclass(frozen=True)
class Half:
    """What the rule reads of an item; equal places (subtest and pair name) belong together."""

    place: Hashable
    clip: str
    caption: str
    foils: tuple[str, ...]


def half_of(record: Mapping[str, Any]) -> Half | None:
    """Return the half that a frozen record is; None if it has no pair name."""
    pair = record.get("pair")
    if not pair:
        return None
    place = (record["subtest"], pair)
    return Half(place, record["video"]["key"], record["caption"], tuple(record["foils"]))


def half_of_item(record: ItemRecord) -> Half | None:
    """Return the half that an imported record is; None if it has no pair name."""
    if not record.pair:
        return None
    return Half((record.subtest, record.pair), record.video.key, record.caption, record.foils)


def fault(half: Half) -> str:
    """Return why the item cannot be half of a pair, whatever the other one is; "" if it can."""
    return "" if len(half.foils) == 1 else f"needs exactly one foil, not {len(half.foils)}"


def mismatch(one: Half, other: Half) -> str:
    """Return why two items of one name do not fit; "" if they do."""
    if one.clip == other.clip:
        return "has two items of the same clip"
    if one.foils != (other.caption,) or other.foils != (one.caption,):
        return "has two items of which the caption of one is not the foil of the other"
    return ""


def clip_order(name: str) -> tuple[bool, str]:
    """Return a sort key for the ids of two halves: clip 0 first."""
    return name.endswith(_SECOND), name


def two_of_each(places: Sequence[Hashable | None], names: Sequence[str]) -> list[tuple[int, int]]:
    """Return (clip 0, clip 1) as positions, of the places that two items have; `names` are the items' ids."""
    by_place: dict[Hashable, list[int]] = {}
    for position, place in enumerate(places):
        if place is not None:
            by_place.setdefault(place, []).append(position)
    both = (sorted(positions, key=lambda at: clip_order(names[at])) for positions in by_place.values())
    return [(found[0], found[1]) for found in both if len(found) == 2]


def whole_pairs(records: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Return (clip 0, clip 1) as positions, of the pairs that have both halves among frozen records."""
    halves = [half_of(record) for record in records]
    found = two_of_each([half and half.place for half in halves], [record["id"] for record in records])
    return [(one, other) for one, other in found if not _mismatch(halves[one], halves[other])]


def _mismatch(one: Half | None, other: Half | None) -> str:
    return "is missing" if one is None or other is None else mismatch(one, other)


def pairs_of(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return (pair name, id of clip 0, id of clip 1) of the whole pairs among frozen records."""
    found = whole_pairs(records)
    return [(records[one]["pair"], records[one]["id"], records[other]["id"]) for one, other in found]


def connected(clusters: Iterable[tuple[str, str]]) -> list[str]:
    """Return one cluster per pair: pairs that share a source of either clip have the same, directly or by others."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    given = list(clusters)
    for one, other in given:
        parent[root(other)] = root(one)
    return [root(one) for one, _other in given]
