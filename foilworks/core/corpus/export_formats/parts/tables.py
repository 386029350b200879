"""What the published formats that are tables share: a file a subtest, videos named as their data set names them."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import unused_name
from foilworks.core.corpus.export_formats.parts.manifest import MANIFEST
from foilworks.core.corpus.records import ItemRecord, VideoRecord


def by_subtest(items: Iterable[ItemRecord], ending: str) -> dict[str, list[ItemRecord]]:
    """Return file name -> items, one file per subtest.

    Two subtests may look alike once their names are made safe.
    """
    # The manifest of the folder has its name.
    taken = {PurePath(MANIFEST).stem} if PurePath(MANIFEST).suffix == ending else set()
    subtests: dict[str, list[ItemRecord]] = {}
    for item in sorted(items, key=lambda item: numbered(item.id)):
        subtests.setdefault(item.subtest, []).append(item)
    return {f"{unused_name(subtest, taken)}{ending}": subtest_items for subtest, subtest_items in subtests.items()}


def numbered(id_: str) -> tuple[str, int]:
    """By id, a video's tenth record after its ninth: importers number them in the order of the file."""
    stem, _, number = id_.rpartition("#")
    return (stem, int(number)) if stem and number.isdecimal() and number.isascii() else (id_, 1)


def video_name(video: VideoRecord) -> str:
    """The video as its data set calls it, else the clip's file or key; a part of a video has its key alone."""
    return video.key if is_trimmed(video) else video.source_id or video.file or video.key


def is_trimmed(video: VideoRecord) -> bool:
    """Whether the clip is cut out of its video, of which there may be others."""
    return video.start_time is not None or video.end_time is not None


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str) -> None:
    """Write cells unchanged: programs read these files, and labels and sentences must not change."""
    with path.open("w", encoding="utf-8", newline="") as file:
        plain = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        # The published files end their lines by a line feed alone, and then a carriage return in a cell goes unquoted.
        quoted = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        plain.writerow(header)
        for row in rows:
            (quoted if any("\r" in str(cell) for cell in row) else plain).writerow(row)
