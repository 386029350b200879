"""Compare the published verb sets with the multiple-choice list that they come from (contrast sets, Sec. D.1)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.text.registry import load, parse_params
from foilworks.site.reproduction.contrast_paper import MSRVTT_TERMS, PUBLISHED_HASHES, SIZES
from foilworks.site.reproduction.eight_sets import MSRVTT
from foilworks.site.reproduction.eight_sets import PAPER as PAPER_SIZES
from foilworks.site.reproduction.table_cells import Caveat, Cell, compare, not_given, other_hash
from generation.recipes import find_recipe
from generation.records import CaptionInput
from generation.trial import try_method

LIST, GENDER, RANDOM = "msrvtt_mc_test.jsonl", "Gender", "Random"
ROW = "MSR-VTT, {}"
ITEMS, KEPT, SAME = "items", "items with three options of the list", "items with the caption of the list"
OTHER_SIZE = "{} has {} items, the published list {}"
ANOTHER = "the other items of the published file have another caption of the clip than the list"
FEW = "only these captions of the list have a word to swap; other captions of the clips are not public here"


def list_cells(path: Path | None, published: Mapping[str, Path]) -> Iterator[Cell]:
    """Yield the sizes of the sets that the list alone makes, and what the published files keep of it."""
    records = _records("msrvtt", path) if path else []
    sizes, n = PAPER_SIZES[MSRVTT], len(records) if path else None
    caveat = None if path else not_given(LIST, MSRVTT_TERMS)
    if path and n != sizes[RANDOM]:
        caveat = Caveat("other data", OTHER_SIZE.format(LIST, n, sizes[RANDOM]))
    yield compare(SIZES, ROW.format(RANDOM), ITEMS, sizes[RANDOM], n, digits=0, caveat=caveat)
    swapped = _n_changed_by_recipe(records) if path else None
    yield compare(SIZES, ROW.format(GENDER), ITEMS, sizes[GENDER], swapped, digits=0, why=FEW, caveat=caveat)
    if not path:
        return
    of_clip = {record.video.source_id: record for record in records}
    for name, file in published.items():
        pairs = [(record, of_clip.get(record.video.source_id)) for record in _records("contrast", file)]
        matched = [(record, list_record) for record, list_record in pairs if list_record]
        n_kept = sum(
            len(set(record.foils) & set(list_record.foils)) == len(list_record.foils) - 1
            for record, list_record in matched
        )
        n_same = sum(record.caption == list_record.caption for record, list_record in matched)
        of_file = caveat or other_hash(file, PUBLISHED_HASHES)
        for column, count in ((KEPT, n_kept), (SAME, n_same)):
            row = ROW.format(file.name)
            yield compare(SIZES, row, column, sizes[name], count, digits=0, why=ANOTHER, caveat=of_file)


def _n_changed_by_recipe(records: list[ItemRecord]) -> int:
    """Return the number of captions of the list that the recipe of Gender MC changes."""
    captions = [CaptionInput(record.id, record.caption) for record in records]
    outcome = try_method(find_recipe("contrast-gender").method, captions, mode="paper", seed=0, raw_params={})
    return len(outcome["candidates"])


def _records(slug: str, path: Path) -> list[ItemRecord]:
    entry = IMPORTERS[slug]
    params: dict[str, Any] = parse_params(entry, {})
    return [outcome for outcome in load(entry).read(path, params=params) if isinstance(outcome, ItemRecord)]
