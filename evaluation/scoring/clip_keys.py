"""What a score is stored under (metrics.md, "Scores are stored"): the clip's bytes with its trim, and the text."""

import hashlib
from collections.abc import Mapping
from typing import Any

LONGEST_KEY = 200


def clip_key(video: Mapping[str, Any]) -> str:
    """The `video` of a frozen record as a key: SHA-256 of its file (source and id where there is none) @ start-end."""
    source = video["sha256"] or "/".join(part for part in (video["source_dataset"], video["source_id"]) if part)
    edges = [video["start_time"], video["end_time"]]
    key = source or video["key"]
    if edges != [None, None]:
        unit = "" if video["time_unit"] == "sec" else video["time_unit"]
        key += "@" + "-".join("" if edge is None else repr(float(edge)) for edge in edges) + unit
    if len(key) > LONGEST_KEY:
        return "sha256:" + hashlib.sha256(key.encode()).hexdigest()
    return key


def item_key(record: Mapping[str, Any], part: str) -> str:
    """The key of a score that a file gave to an item (`part` main or proficiency): files name items, not clips."""
    return f"{part}:" + hashlib.sha256(record["id"].encode()).hexdigest()


def text_key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def cluster(video: Mapping[str, Any]) -> str:
    """The source video, over whose clips statistics cluster."""
    if video["source_id"]:
        return f"{video['source_dataset']}/{video['source_id']}"
    return video["sha256"] or video["key"]
