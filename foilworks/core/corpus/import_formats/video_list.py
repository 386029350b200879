"""`video-list`: videos with a class and a split, without captions: a table with columns of the usual names, or lines
`PATH CLASS` as mmaction, TSN, SlowFast and VideoMAE read them (parsing/video_rows.py).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.video_rows import read_videos
from foilworks.core.corpus.records import ReadOutcome

YIELDS = "videos"
TAKES_LIMITS = True


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the videos of the list. CorpusError: no such list."""
    yield from read_videos(path, params, params.get("limits") or TableLimits())
