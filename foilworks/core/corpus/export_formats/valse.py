"""`valse`: the released items as VALSE files, one JSON object an instrument; the clip is the picture `image_file`.

As `vilma`: what was imported comes out with all its fields, and what the format cannot say is in a `foilworks`
object.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import write_folder, write_json
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import video_name
from foilworks.core.corpus.export_formats.vilma import Form, files
from foilworks.core.corpus.import_formats import valse
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = [item for item in released_items(release) if item.foils]

    def fill(folder: Path) -> None:
        for stem, records in files(items, VALSE).items():
            write_json(folder / f"{stem}.json", records)

    return write_folder(out, manifest_facts(release, "valse", len(items)), fill)


def _fields(item: ItemRecord) -> dict[str, Any]:
    has_one_foil = len(item.foils) == 1
    return {
        "image_file": item.extra.get("image_file") or video_name(item.video),
        "dataset": item.extra.get("dataset") or item.video.source_dataset or None,
        "caption": item.extra["captions"] if _lists_captions(item) else item.caption,
        "foil" if has_one_foil else "foils": item.foils[0] if has_one_foil else list(item.foils),
    }


def _extra(item: ItemRecord) -> Mapping[str, Any]:
    """The unknown fields; of several captions in a list the importer keeps the list under a name of its own."""
    return {name: value for name, value in item.extra.items() if name != "captions" or not _lists_captions(item)}


def _lists_captions(item: ItemRecord) -> bool:
    captions = item.extra.get("captions")
    return isinstance(captions, list) and len(captions) > 1 and captions[0] == item.caption


VALSE = Form(valse.parse, _fields, _extra)
