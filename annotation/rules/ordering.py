"""Decide which text is shown first and which task comes next. Pure.

The seed is secret (foilworks.core.projects.access): with the source and the row numbers alone, nobody can
compute either.

Order of the two texts (docs/workflow.md#rule-5): the slots of a task form pairs with opposite orders, so over three
validators the caption is never always in the same place. Pairs and odd slots are independent of all others: the order
of some reveals nothing about the rest (docs/decisions/0072-secret-seeds.md).
"""

from hashlib import blake2b


def seeded_share(*parts: object) -> float:
    """Return a number in [0, 1) determined by the parts, evenly spread; the same on every machine."""
    return int.from_bytes(blake2b("\x1f".join(map(str, parts)).encode(), digest_size=7).digest()) / 2**56


def caption_first(seed: object, foil: int, slot: int, overlap: int) -> bool:
    """Return whether the caption is the first text for the person in `slot` (0-based) of `overlap` slots."""
    if not 0 <= slot < overlap:
        raise ValueError(f"slot {slot} of a task with {overlap} slots")
    return _coin(seed, "pair of slots", foil, slot // 2) != (slot % 2 == 1)


# Lower comes first. Bands of width 1 keep the shuffle within each kind of task.
RETURNED, STARTED, FRESH = 0.0, 1.0, 2.0


def priority(band: float, seed: object, stage: str, target: int) -> float:
    """Return a slot's position in the queue: returned foils, then started tasks, then new ones, shuffled by seed."""
    return band + seeded_share(seed, stage, target)


def _coin(*parts: object) -> bool:
    return seeded_share(*parts) < 0.5
