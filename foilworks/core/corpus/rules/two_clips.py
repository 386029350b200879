"""Items of two clips (Winoground, Vinoground): two items that share a pair name, each with the other's caption as its
foil. Pure.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foilworks.core.corpus.records import ItemRecord

# Facts of an item: only the time of its frames tells its texts apart; how its clip was made.
NEEDS_TIME, PLAYED = "needs_time", "played"
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
    pair_key = (record["subtest"], pair)
    return Half(pair_key, record["video"]["key"], record["caption"], tuple(record["foils"]))


def half_of_item(record: ItemRecord) -> Half | None:
    """Return the half that an imported record is; None if it has no pair name."""
    if not record.pair:
        return None
    return Half((record.subtest, record.pair), record.video.key, record.caption, record.foils)


def fault(half: Half) -> str:
    """Return why the item cannot be half of a pair, whatever the other one is; "" if it can."""
    return "" if len(half.foils) == 1 else f"needs exactly one foil, not {len(half.foils)}"


def mismatch(first: Half, second: Half) -> str:
    """Return why two items of one name do not fit; "" if they do."""
    if first.clip == second.clip:
        return "has two items of the same clip"
    if first.foils != (second.caption,) or second.foils != (first.caption,):
        return "has two items of which the caption of one is not the foil of the other"
    return ""


def clip_order(name: str) -> tuple[bool, str]:
    """Return a sort key for the ids of two halves: clip 0 first."""
    return name.endswith(_SECOND), name


def two_of_each(pair_keys: Sequence[Hashable | None], names: Sequence[str]) -> list[tuple[int, int]]:
    """Return (clip 0, clip 1) as positions, of the places that two items have; `names` are the items' ids."""
    positions_by_key: dict[Hashable, list[int]] = {}
    for position, pair_key in enumerate(pair_keys):
        if pair_key is not None:
            positions_by_key.setdefault(pair_key, []).append(position)
    position_pairs = (
        sorted(positions, key=lambda at: clip_order(names[at])) for positions in positions_by_key.values()
    )
    return [(pair[0], pair[1]) for pair in position_pairs if len(pair) == 2]


def whole_pairs(records: Collection[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Return (clip 0, clip 1) as positions, of the pairs that have both halves among frozen records."""
    halves = [half_of(record) for record in records]
    pairs = two_of_each([half and half.place for half in halves], [record["id"] for record in records])
    return [(first, second) for first, second in pairs if not _mismatch(halves[first], halves[second])]


def _mismatch(first: Half | None, second: Half | None) -> str:
    return "is missing" if first is None or second is None else mismatch(first, second)


def pairs_of(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return (pair name, id of clip 0, id of clip 1) of the whole pairs among frozen records."""
    pairs = whole_pairs(records)
    return [(records[first]["pair"], records[first]["id"], records[second]["id"]) for first, second in pairs]


def connected(clusters: Iterable[tuple[str, str]]) -> list[str]:
    """Return one cluster per pair: pairs that share a source of either clip have the same, directly or by others."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    cluster_pairs = list(clusters)
    for first, second in cluster_pairs:
        parent[root(second)] = root(first)
    return [root(cluster) for cluster, _other in cluster_pairs]
