"""`sugarcrepe`: `{"0": {"filename", "caption", "negative_caption"}}`, one file per kind of edit, as SugarCrepe has it.
Items with another number of foils than one are left out, and the manifest names them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import keys_in_file, write_json
from foilworks.core.corpus.export_formats.parts.published_formats import kept_fields, write_pairs
from foilworks.core.corpus.export_formats.parts.tables import video_name
from foilworks.core.corpus.import_formats.parsing.table_recipe import parse_recipe, recipe_named
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no item has one foil, or it cannot be written."""
    return write_pairs(release, out, "sugarcrepe", ".json", _write)


def _write(path: Path, items: list[ItemRecord]) -> None:
    write_json(path, {key: _record(item) for key, item in keys_in_file(items).items()})


def _record(item: ItemRecord) -> dict[str, Any]:
    return {
        **kept_fields(item, frozenset(parse_recipe(recipe_named("sugarcrepe")).used)),
        "filename": video_name(item.video),
        "caption": item.caption,
        "negative_caption": item.foils[0],
    }
