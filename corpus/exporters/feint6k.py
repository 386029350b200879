"""`feint6k`: the CSV files of Feint6K (Ma et al., ECCV 2024): `video_id, sentence`, six rows a video, caption first.

Items with another number of foils than five do not fit: they are left out, and the manifest names them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus.errors import CorpusError
from corpus.exporters._folder import write_folder
from corpus.exporters._released import manifest_facts, released_items
from corpus.exporters._tables import by_subtest, video_name, write_rows
from corpus.importers.feint6k import BLOCK
from corpus.records import ItemRecord, ReleaseContent

USES_TABLES = False


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no item has five foils, or the folder cannot be
    written there."""
    items = released_items(release)
    fitting = [item for item in items if len(item.foils) == BLOCK - 1]
    if not fitting:
        raise CorpusError(
            f"{release.release}: no released item has {BLOCK - 1} foils, which the format asks for; export another one"
        )
    left_out = sorted(item.id for item in items if len(item.foils) != BLOCK - 1)

    def fill(folder: Path) -> None:
        for name, found in by_subtest(fitting, ".csv").items():
            write_rows(folder / name, ["video_id", "sentence"], _rows(found), ",")

    return write_folder(out, {**manifest_facts(release, "feint6k", len(fitting)), "left_out": left_out}, fill)


def _rows(items: Sequence[ItemRecord]) -> list[tuple[str, str]]:
    return [(video_name(item.video), text) for item in items for text in (item.caption, *item.foils)]
