"""Chance that does not depend on the order or the batches in which captions come."""

import hashlib
import random


def generator_for(seed: int, *keys: str) -> random.Random:
    """A generator of its own for each (seed, keys): the same on every machine and in any order of captions."""
    # surrogatepass: a caption may hold half a surrogate pair, and its foil must still be the same each time.
    digest = hashlib.sha256("\x1f".join([str(seed), *keys]).encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))
