"""Compute the key of a stored score: clip bytes with the trim, and the text
(docs/reference/formulas.md#stored-scores)."""

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

MAX_KEY_LENGTH = 200


class Keyed(StrEnum):
    """What the keys of a run's scores cover, in addition to their text."""

    CLIP = "clip"
    # A share among texts depends on the others: the clip, and all texts that were scored together.
    TEXTS = "texts"
    # Score files name items, not clips.
    ITEM = "item"


def score_key(keyed: Keyed, record: Mapping[str, Any], comparison: str, texts: Iterable[str]) -> str:
    """Return the key of the scores of `texts`, scored together for a comparison (main, proficiency or control) of a
    frozen record.
    """
    if keyed == Keyed.ITEM:
        return item_key(record, comparison)
    return texts_key(record["video"], texts) if keyed == Keyed.TEXTS else clip_key(record["video"])


def clip_key(video: Mapping[str, Any]) -> str:
    """Return the key of a frozen record's `video`: SHA-256 of its file (source and id without a file) @ start-end."""
    source = video["sha256"] or "/".join(name for name in (video["source_dataset"], video["source_id"]) if name)
    edges = [video["start_time"], video["end_time"]]
    key = source or video["key"]
    if edges != [None, None]:
        unit = "" if video["time_unit"] == "sec" else video["time_unit"]
        key += "@" + "-".join("" if edge is None else repr(float(edge)) for edge in edges) + unit
    return fitting(key)


def texts_key(video: Mapping[str, Any], texts: Iterable[str]) -> str:
    """Return the clip's key and a hash of the distinct texts in any order: models score them in one canonical order."""
    return fitting(f"{clip_key(video)}#{texts_hash(texts)}")


def texts_hash(texts: Iterable[str]) -> str:
    """Return the hash of the distinct texts in any order."""
    return hashlib.sha256("".join(sorted({text_key(text) for text in texts})).encode()).hexdigest()


def fitting(key: str, length: int = MAX_KEY_LENGTH) -> str:
    """Return the key, or its hash if it is longer than `length`."""
    return key if len(key) <= length else "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def item_key(record: Mapping[str, Any], comparison: str) -> str:
    """Return the key of a score that a file gave to an item (`comparison` main or proficiency)."""
    return f"{comparison}:" + hashlib.sha256(record["id"].encode()).hexdigest()


def text_key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
