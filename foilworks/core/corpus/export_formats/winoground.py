"""`winoground`: one record per pair, as Winoground has them (`{"id", "caption_0", "caption_1", "image_0", "image_1"}`),
one file of JSON lines per subtest. `image_0` names the clip, of videos as well.

Items without a pair name, and pairs of which only one item is there, are left out, and the manifest names them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.folder import write_folder, write_lines
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest, video_name
from foilworks.core.corpus.import_formats.pair_sets import WINOGROUND_FIELDS
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent
from foilworks.core.corpus.rules.two_clips import half_of_item, mismatch, two_of_each

ItemPair = tuple[ItemRecord, ItemRecord]


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no pair has both items, or it cannot be written."""
    items = [item for item in released_items(release) if item.foils]
    pairs = _pairs(items)
    if not pairs:
        raise CorpusError(f"{release.release or release.project}: has no pair of two clips; export another format")
    paired = {item.id for pair in pairs for item in pair}
    files = by_subtest([first for first, _second in pairs], ".jsonl")
    second_by_id = {first.id: second for first, second in pairs}

    def fill(folder: Path) -> None:
        for name, subtest_items in files.items():
            write_lines(folder / name, [_record(first, second_by_id[first.id]) for first in subtest_items])

    facts = manifest_facts(release, "winoground", len(paired))
    left_out = sorted(item.id for item in items if item.id not in paired)
    return write_folder(out, {**facts, "left_out": left_out}, fill)


def _pairs(items: Sequence[ItemRecord]) -> list[ItemPair]:
    """Return (clip 0, clip 1) of the pairs whose two items fit."""
    halves = [half_of_item(item) for item in items]
    index_pairs = two_of_each([half and half.place for half in halves], [item.id for item in items])
    return [
        (items[first_index], items[last_index])
        for first_index, last_index in index_pairs
        if (first := halves[first_index]) and (last := halves[last_index]) and not mismatch(first, last)
    ]


def _record(first: ItemRecord, last: ItemRecord) -> dict[str, Any]:
    """The fields that both items have alike are those of the example."""
    extra = {
        name: value
        for name, value in first.extra.items()
        if name not in WINOGROUND_FIELDS and last.extra.get(name) == value
    }
    return {
        "id": _number(first.pair),
        "caption_0": first.caption,
        "caption_1": last.caption,
        "image_0": video_name(first.video),
        "image_1": video_name(last.video),
        **extra,
    }


def _number(name: str) -> int | str:
    """The published ids are numbers; an id with leading zeros would be another one."""
    return int(name) if name.isdecimal() and name.isascii() and str(int(name)) == name else name
