"""`contrast`: multiple choice as the contrast sets are published (contrast sets, Sec. 4.1): tab-separated
`clip, ending0 …, label[, c_label]`, one file per subtest.

Items that came from such a file get their endings in the order they had. Of others the caption's place is drawn by a
hash of the item's id, so that it says nothing and is the same in every export. `c_label` is the ending that is the hard
foil, where the file or the fact `hard_foil` marks one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.choices import caption_index_of
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest, video_name, write_rows
from foilworks.core.corpus.import_formats.choice_sets import CONTRAST_LABELS
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent
from foilworks.core.corpus.rules.hard_foils import HARD_FOIL


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: items of one subtest with unequal numbers of foils,
    or the folder cannot be written there."""
    items = [item for item in released_items(release) if item.foils]
    files = by_subtest(items, ".tsv")
    for subtest_items in files.values():
        _check(subtest_items)

    def fill(folder: Path) -> None:
        for name, subtest_items in files.items():
            _write(folder / name, subtest_items)

    return write_folder(out, manifest_facts(release, "contrast", len(items)), fill)


def _check(items: Sequence[ItemRecord]) -> None:
    sizes = {len(item.foils): item.id for item in items}
    if len(sizes) > 1:
        few, many = min(sizes), max(sizes)
        raise CorpusError(
            f"{items[0].subtest}: {sizes[few]} has {few} foils and {sizes[many]} has {many}, but the format needs "
            "the same number in every row; export another format, or release subtests with equal numbers of foils"
        )


def _write(path: Path, items: Sequence[ItemRecord]) -> None:
    n_endings = 1 + len(items[0].foils)
    extras = sorted({name for item in items for name, value in item.extra.items() if _plain(name, value)})
    labels = ["label", *(["c_label"] if any(_c_label(item) != "" for item in items) else [])]
    header = ["clip", *(f"ending{number}" for number in range(n_endings)), *labels, *extras]
    write_rows(path, header, (_row(item, labels, extras) for item in items), "\t")


def _plain(name: str, value: Any) -> bool:
    """Whether the format can give the field back as it is: text, or it would be another one when read."""
    return (
        name not in CONTRAST_LABELS and isinstance(value, str) and bool(name.strip()) and not name.startswith("ending")
    )


def _row(item: ItemRecord, labels: Sequence[str], extras: Sequence[str]) -> list[Any]:
    label = _label(item)
    endings = [*item.foils[:label], item.caption, *item.foils[label:]]
    c_label = [_c_label(item)] if "c_label" in labels else []
    return [video_name(item.video), *endings, label, *c_label, *(item.extra.get(name, "") for name in extras)]


def _c_label(item: ItemRecord) -> Any:
    """Return the number of the ending that is the hard foil; "" if none is marked."""
    hard = item.facts.get(HARD_FOIL)
    if isinstance(hard, bool) or not isinstance(hard, int) or not 0 <= hard < len(item.foils):
        return item.extra.get("c_label", "")
    return hard + (hard >= _label(item))


def _label(item: ItemRecord) -> int:
    label = item.extra.get("label")
    if isinstance(label, int) and not isinstance(label, bool) and 0 <= label <= len(item.foils):
        return label
    return caption_index_of(item)
