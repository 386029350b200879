"""`feint6k`: the CSV files of Feint6K (Feint6K, Sec. 3.2): `video_id, sentence`, six rows per video, caption first.

Items with another number of foils than five do not fit: they are left out, and the manifest names them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest, video_name, write_rows
from foilworks.core.corpus.import_formats.choice_sets import FEINT6K_BLOCK
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no item has five foils, or the folder cannot be
    written there."""
    items = [item for item in released_items(release) if item.foils]
    fitting = [item for item in items if len(item.foils) == FEINT6K_BLOCK - 1]
    if not fitting:
        raise CorpusError(f"{release.release}: no released item has {FEINT6K_BLOCK - 1} foils; export another format")
    left_out = sorted(item.id for item in items if len(item.foils) != FEINT6K_BLOCK - 1)

    def fill(folder: Path) -> None:
        for name, subtest_items in by_subtest(fitting, ".csv").items():
            extras = sorted(
                {name for item in subtest_items for name, value in item.extra.items() if _plain(name, value)}
            )
            write_rows(folder / name, ["video_id", "sentence", *extras], _rows(subtest_items, extras), ",")

    return write_folder(out, {**manifest_facts(release, "feint6k", len(fitting)), "left_out": left_out}, fill)


def _plain(name: str, value: Any) -> bool:
    """Whether the format can give the field back as it is: a column of text."""
    taken = name in {"video_id", "sentence", "key", "vid_key"} or name != name.strip()
    return isinstance(value, str) and bool(value) and bool(name) and not taken


def _rows(items: Sequence[ItemRecord], extras: Sequence[str]) -> Iterator[list[str]]:
    """Six rows per item; all of them repeat the extra cells of the caption's row."""
    for item in items:
        extra_cells = [str(item.extra.get(name, "")) if _plain(name, item.extra.get(name)) else "" for name in extras]
        for text in (item.caption, *item.foils):
            yield [video_name(item.video), text, *extra_cells]
