"""Random draws that do not depend on the order or the batches of captions."""

import hashlib
import random


def generator_for(seed: int, *keys: str) -> random.Random:
    """Return a generator for (seed, keys): the same on every machine and in any order of captions."""
    # surrogatepass: a caption may contain half of a surrogate pair, and its foil must still be reproducible.
    digest = hashlib.sha256("\x1f".join([str(seed), *keys]).encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))
