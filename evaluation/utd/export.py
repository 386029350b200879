"""Descriptions as files: in the form of UTD-descriptions, and as objects for the object check."""

import json
from collections.abc import Iterator

from evaluation.utd.concepts import OBJECTS, frame_text
from evaluation.utd.models import Descriptions
from evaluation.utd.samples import frame_texts
from evaluation.utd.utd_files import written


def described_videos_of(descriptions: Descriptions) -> dict[str, dict[str, list[str]]]:
    """{video: {concept: [a text a frame]}}: the raw answers, which an import takes as they are."""
    rows = frame_texts(descriptions).order_by("video", "place")
    videos: dict[str, list[dict[str, str]]] = {}
    for key, raw in rows.values_list("video__key", "raw").iterator():
        videos.setdefault(key, []).append(raw)
    return written(videos)


def objects_lines(descriptions: Descriptions) -> Iterator[str]:
    """JSON lines of `foilworks objects`: {"video", "time", "objects", "source"} of each frame that names some."""
    rows = frame_texts(descriptions).filter(raw__has_key=OBJECTS).order_by("video", "place")
    for key, time, raw in rows.values_list("video__key", "time", "raw").iterator():
        names = [name[:100] for name in frame_text(OBJECTS, raw[OBJECTS]).split(", ") if name][:60]
        if names:
            line = {"video": key, "time": time, "objects": names, "source": descriptions.describer[:100]}
            yield json.dumps(line, ensure_ascii=False) + "\n"
