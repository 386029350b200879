"""`foil-coco`: `{"images", "annotations"}` as FOIL-COCO has it, one file per subtest: each caption beside its foils,
all under one id."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import keys_in_file, write_folder, write_json
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest, video_name
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent

USES_TABLES = False
TAKES_RECORDS = True
_TAKEN = frozenset({"caption", "image_id", "id", "foil"})


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = [item for item in released_items(release) if item.foils]

    def fill(folder: Path) -> None:
        for name, found in by_subtest(items, ".json").items():
            write_json(folder / ("manifest-again.json" if name == "manifest.json" else name), _file(found))

    return write_folder(out, manifest_facts(release, "foil-coco", len(items)), fill)


def _file(items: list[ItemRecord]) -> dict[str, Any]:
    names = dict.fromkeys(video_name(item.video) for item in items)
    images = [{"id": name, "file_name": name} for name in names]
    keys = keys_in_file(items)
    return {"images": images, "annotations": [one for key, item in keys.items() for one in _annotations(key, item)]}


def _annotations(key: str, item: ItemRecord) -> list[dict[str, Any]]:
    shared = {"id": key, "image_id": video_name(item.video)}
    found: list[dict[str, Any]] = [{**shared, "caption": item.caption, "foil": False}]
    for place, foil in enumerate(item.foils):
        found.append({**_said_of(item, place), **shared, "caption": foil, "foil": True})
    return found


def _said_of(item: ItemRecord, place: int) -> dict[str, Any]:
    """What the imported annotation of this foil said beside."""
    told = item.extra.get("foils")
    own = told[place] if isinstance(told, list) and len(told) == len(item.foils) else None
    return {name: value for name, value in own.items() if name not in _TAKEN} if isinstance(own, dict) else {}
