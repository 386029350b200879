"""Which text stands first, and which task comes next: seeded, so that both can be recomputed. Pure.

Order of the two texts (docs/workflow.md#rule-5): the slots of a task form pairs with opposite orders, so that over
three validators the caption is never always in the same place. An odd slot out is opposite to that of the neighbouring
foil (ids 2n and 2n+1), so that over a project the caption stands first half of the time exactly, not only on average.
"""

from hashlib import blake2b


def seeded_share(*parts: object) -> float:
    """A number in [0, 1) that the parts determine, evenly spread over different parts; the same on every machine."""
    return int.from_bytes(blake2b("\x1f".join(map(str, parts)).encode(), digest_size=7).digest()) / 2**56


def caption_first(seed: int, foil: int, slot: int, overlap: int) -> bool:
    """Whether the caption is the first text for the person in place `slot` (0-based) of `overlap` places."""
    if not 0 <= slot < overlap:
        raise ValueError(f"slot {slot} of a task with {overlap} places")
    if slot == overlap - 1 and overlap % 2 == 1:
        flipped = foil % 2 == 1
        return _coin(seed, "pair of foils", foil // 2, slot) != flipped
    return _coin(seed, "pair of slots", foil, slot // 2) != (slot % 2 == 1)


# Lower comes first. Bands of width one keep the shuffle within each kind of work.
RETURNED, STARTED, FRESH = 0.0, 1.0, 2.0


def priority(band: float, seed: int, stage: str, target: int) -> float:
    """The place of a slot in the queue: returned pieces, then started tasks, then fresh ones, each shuffled by seed."""
    return band + seeded_share(seed, stage, target)


def _coin(*parts: object) -> bool:
    return seeded_share(*parts) < 0.5
