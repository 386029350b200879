"""The frozen form of an item: one JSON object, which alone defines what a model is scored on.

A release stores these; exports write them, one per line, with the item's status. The status is not part of the content
hash, and items outside the release can have one, too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid5

from foilworks.core.corpus.records import ItemRecord, PairRecord, ReleaseVote, VideoRecord, VoteCounts
from foilworks.core.corpus.rules.canonical import content_hash
from foilworks.core.corpus.rules.hard_foils import HARD_FOIL, REMOVED

CANARY = "canary"
STATUS_FIELDS = frozenset(
    {"released", "state", "found_valid", "unanimous", "verdicts", "votes", "on_publishers_word", CANARY}
)
# The same release has the same mark in every export of every installation.
_CANARIES = UUID("6d3f3a52-9a0e-4c5e-9f5b-2f1a7c1de2b4")
CANARY_WORDS = "This benchmark tests models. Never train a model on it. canary GUID {guid}"
# Of an item that was imported as published and not decided by votes when frozen.
AS_PUBLISHED = "as_published"
# In the provenance of a foil: keys of the models that screened it before people saw it.
SCREENED_BY = "screened_by"
SCREENED_WORDS = (
    "These models rejected other foils before people judged the rest. Scores of these models and of their families are "
    "not independent of the benchmark."
)
PUBLISHERS_WORD = "These items were imported as published: they count as valid, and no votes have decided on them here."
# Facts of an item with a value for each of its foils.
OF_EACH_FOIL = ("edited", "swapped_frequency", "roles")
_VIDEO_FIELDS = tuple(VideoRecord.__dataclass_fields__)


def release_id(subtest: str, key: str) -> str:
    """The item's id in releases and exports: unique over subtests, whatever its importer called it."""
    return key if key.startswith(f"{subtest}:") else f"{subtest}:{key}"


def release_record(
    item: ItemRecord,
    *,
    media: Mapping[str, Any] | None = None,
    positions: Sequence[int] | None = None,
    provenance: Sequence[Mapping[str, Any] | None] | None = None,
    proficiency_id: str = "",
    proficiency_valid: bool | None = None,
    proficiency_positions: Sequence[int] = (),
    as_published: bool = False,
) -> dict[str, Any]:
    """The frozen form of `item`, whose votes are left out.

    `media`: sha256, duration, fps … of its file. `positions`: the place in the item of each foil, where invalid ones
    dropped out; votes name a foil by it (`proficiency_positions`: alike, of the pair's foils). `provenance`: what made
    each foil, None where nobody recorded it. `as_published`: no vote decided that the item is valid.
    """
    foils = list(item.foils)
    pair = item.proficiency
    placed = list(proficiency_positions)
    return {
        "id": item.id,
        "subtest": item.subtest,
        "test": item.test,
        "caption": item.caption,
        "foils": foils,
        "foil_positions": list(positions) if positions is not None else list(range(len(foils))),
        "video": {**asdict(item.video), **(media or {})},
        "proficiency": None
        if pair is None
        else {
            "id": proficiency_id or f"{item.id}/proficiency",
            "caption": pair.caption,
            "foils": list(pair.foils),
            "valid": proficiency_valid,
            "extra": dict(pair.extra),
            # Only if it differs: earlier releases keep their hash.
            **({"foil_positions": placed} if placed != list(range(len(placed))) else {}),
        },
        "facts": dict(item.facts),
        "extra": dict(item.extra),
        "provenance": [
            dict(foil_provenance) if foil_provenance else None for foil_provenance in provenance or [None] * len(foils)
        ],
        # Only if true, as above.
        **({AS_PUBLISHED: True} if as_published else {}),
        **({"pair": item.pair} if item.pair else {}),
    }


def n_as_published(records: Iterable[Mapping[str, Any]]) -> int:
    """Return how many of these frozen records were imported as published, without a decision by votes."""
    return sum(bool(record.get(AS_PUBLISHED)) for record in records)


def as_published_facts(n: int) -> dict[str, Any]:
    """Return the facts for manifests and boards about a release with `n` such items; empty if there are none."""
    return {"as_published": {"items": n, "note": PUBLISHERS_WORD}} if n else {}


def content_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without the status of the item and of its proficiency pair: what the content hash covers."""
    content = {name: value for name, value in record.items() if name not in STATUS_FIELDS}
    if isinstance(content.get("proficiency"), Mapping):
        pair = content["proficiency"]
        content["proficiency"] = {name: value for name, value in pair.items() if name not in STATUS_FIELDS}
    return content


def hash_of(records: Iterable[Mapping[str, Any]]) -> str:
    """The canonical content hash of a release: of its records' content, whatever their order."""
    return content_hash(content_of(record) for record in records)


def canary_of(content_hash: str) -> str:
    """Return the sentence that every export of a release carries: who finds it in training data knows whose data it is.

    `content_hash`: the one over all items of the release.
    """
    return CANARY_WORDS.format(guid=uuid5(_CANARIES, content_hash))


def holdback_facts(canary: str, holdback: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of the canary and of the private part."""
    return {**({CANARY: canary} if canary else {}), **({"holdback": dict(holdback)} if holdback else {})}


def facts_of_kept_foils(record: Mapping[str, Any]) -> dict[str, Any]:
    """The item's own facts; of lists, one a foil, what is said of the foils that did not drop out.

    `hard_foil` is the hard foil's index among these, or REMOVED.
    """
    facts = dict(record["facts"])
    if "foil_positions" not in record:
        # A record in the making, of which nothing dropped out.
        return facts
    positions = list(record["foil_positions"])
    if isinstance(facts.get(HARD_FOIL), int):
        facts[HARD_FOIL] = positions.index(facts[HARD_FOIL]) if facts[HARD_FOIL] in positions else REMOVED
    for name in OF_EACH_FOIL:
        values = facts.get(name)
        if isinstance(values, list):
            facts[name] = [values[at] if at < len(values) else None for at in positions]
    return facts


def item_record(record: Mapping[str, Any], votes: Mapping[str, VoteCounts] | None = None) -> ItemRecord:
    """The record back as an importer's, with vote counts by item id where there are some."""
    counts = votes or {}
    pair = record["proficiency"]
    return ItemRecord(
        id=record["id"],
        subtest=record["subtest"],
        test=record["test"],
        video=VideoRecord(**{name: record["video"][name] for name in _VIDEO_FIELDS}),
        caption=record["caption"],
        foils=tuple(record["foils"]),
        proficiency=None
        if pair is None
        else PairRecord(pair["caption"], tuple(pair["foils"]), counts.get(pair["id"]), pair["extra"]),
        votes=counts.get(record["id"]),
        extra=record["extra"],
        facts=facts_of_kept_foils(record),
        pair=record.get("pair", ""),
    )


def foil_counts(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many foils validators are asked about, of each item and proficiency pair: those that dropped out too."""
    counts: dict[str, int] = {}
    for record in records:
        counts[record["id"]] = len(record.get("verdicts") or ()) or _n_positions(record)
        pair = record["proficiency"]
        if pair is not None:
            counts[pair["id"]] = max(counts.get(pair["id"], 0), _n_positions(pair))
    return counts


def _n_positions(record: Mapping[str, Any]) -> int:
    return max(record.get("foil_positions") or range(len(record["foils"])), default=-1) + 1


def about_the_item(foils: Collection[int | None], n_foils: int) -> bool:
    """Whether votes on these foils of `n_foils` (None: on the item as a whole) can count as one count of the item."""
    return len(foils) == 1 and (n_foils == 1 or None in foils)


_Tally = tuple[int, int, int, frozenset[int | None]]


def vote_counts(votes: Iterable[ReleaseVote], n_foils: Mapping[str, int] | None) -> dict[str, VoteCounts]:
    """Counts by item, for formats that hold one count an item.

    An item of several foils that were judged one by one has none, also where only one of them was judged yet: as a
    count of the item it would say something of the others. `n_foils` None: that was not asked (older exports).
    """
    # (caption, foil, other, foils) by item; equal ones are one tuple, for there are few among very many items.
    tallies: dict[str, _Tally] = {}
    shared: dict[_Tally, VoteCounts] = {}
    steps: dict[tuple[_Tally, str, int | None], _Tally] = {}
    for vote in votes:
        if vote.stage != "validation" or vote.state != "counted":
            continue
        before = tallies.get(vote.item, (0, 0, 0, frozenset()))
        step = before, vote.choice, vote.foil
        if step not in steps:
            *counts, foils = before
            counts[{"caption": 0, "foil": 1}.get(vote.choice, 2)] += 1
            steps[step] = counts[0], counts[1], counts[2], foils | {vote.foil}
        tallies[vote.item] = steps[step]
    return {
        item: shared.setdefault(tally, VoteCounts(*tally[:3]))
        for item, tally in tallies.items()
        if about_the_item(tally[3], 1 if n_foils is None else n_foils.get(item, 1))
    }


def cluster(video: Mapping[str, Any]) -> str:
    """Return the source video, the cluster of statistics."""
    if video["source_id"]:
        return f"{video['source_dataset']}/{video['source_id']}"
    return video["sha256"] or video["key"]
