"""What a scoring job cost so far, as its row keeps it. Pure."""

from collections.abc import Mapping
from typing import Any

from evaluation.scoring.loop import ScoringCounts
from evaluation.scoring.shards.outlook import smallest


def costs(tally: ScoringCounts, write_seconds: float, before: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Of this attempt and those before it (`before`), as JSON. `halved`: the smallest batch that memory allowed."""
    now = {
        "decode": tally.decode_seconds,
        "wait": tally.wait_seconds,
        "compute": tally.compute_seconds,
        "write": write_seconds,
        "clips": tally.clips_encoded,
        "texts": tally.texts_encoded,
        "pairs": tally.pairs,
        "vectors_kept": tally.vectors_kept,
    }
    summed = {name: before.get(name, 0) + value for name, value in now.items()}
    return {**summed, "halved": smallest(before.get("halved", {}), tally.halved), "device": device}
