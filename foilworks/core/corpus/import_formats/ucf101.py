"""`ucf101`: the lists of UCF101, one `Archery/v_Archery_g08_c01.avi 3` per line; test lists have no number.

A line is a video without a caption. Its class is the folder's name in words: "apply eye makeup".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    read_records,
    video_alone,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.import_formats.parsing.text_lines import lines
from foilworks.core.corpus.records import ItemRecord, ReadOutcome
from foilworks.core.text.quoting import quoted

DATASET = "UCF101"
YIELDS = "videos"
_LINE = re.compile(r"(?P<class>[^/\s]+)/(?P<file>\S+)(?:\s+\d+)?\s*")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the videos of the list. CorpusError: the file cannot be read."""
    split = split_of(path, params)
    raw = (RawRecord(None, {"video": line}, number) for number, line in lines(path))
    yield from read_records(path, raw, lambda record: _parse(record, split))


def _parse(raw: RawRecord, split: str) -> ItemRecord:
    match = _LINE.fullmatch(raw.value["video"] or "")
    if match is None:
        fix = "write CLASS/FILE.avi, and the number of the class in lists of the train split"
        raise ProblemError("video", f"{quoted(raw.value['video'])} is not a line of a list", fix)
    name = checked_id("video", Fields({"video": f"{match['class']}/{match['file']}"}).media_name("video"))
    video = replace(video_of(DATASET, name.rpartition("/")[2]), file=name)
    return video_alone(video, split=split, class_label=readable(match["class"]), line=raw.line)


def readable(name: str) -> str:
    """Return the words of a class: "HandstandPushups" -> "handstand pushups"."""
    return " ".join(word.lower() for word in _WORD.findall(name)) or name
