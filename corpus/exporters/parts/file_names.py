"""Names of files and records in an export, made from names that people gave."""

import re
from collections.abc import Sequence

from corpus.records import ItemRecord


def safe_name(text: str, limit: int = 80) -> str:
    """A file name that says `text` and can do nothing else: letters, digits, dot, dash; never hidden, never empty."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", text)[:limit].strip(".-")
    return name or "unnamed"


def keys_in_file(items: Sequence[ItemRecord]) -> dict[str, ItemRecord]:
    """The items of one subtest by their keys in its file. Ids that begin with the subtest lose it again; they choose
    their keys first, and `1` beside `s:1` becomes `1~`."""
    prefix = f"{items[0].subtest}:"
    keys: dict[str, ItemRecord] = {}
    for item in sorted(items, key=lambda item: not item.id.startswith(prefix)):
        key = item.id.removeprefix(prefix)
        while key in keys:
            key += "~"
        keys[key] = item
    return keys
