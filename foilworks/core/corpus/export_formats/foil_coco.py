"""`foil-coco`: `{"images", "annotations"}` as FOIL-COCO has it, one file per subtest: each caption beside its foils,
all under one id."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import keys_in_file, write_folder, write_json
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest, video_name
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent

_TAKEN = frozenset({"caption", "image_id", "id", "foil"})


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = [item for item in released_items(release) if item.foils]

    def fill(folder: Path) -> None:
        for name, subtest_items in by_subtest(items, ".json").items():
            write_json(folder / ("manifest-again.json" if name == "manifest.json" else name), _file(subtest_items))

    return write_folder(out, manifest_facts(release, "foil-coco", len(items)), fill)


def _file(items: list[ItemRecord]) -> dict[str, Any]:
    names = dict.fromkeys(video_name(item.video) for item in items)
    images = [{"id": name, "file_name": name} for name in names]
    keys = keys_in_file(items)
    return {
        "images": images,
        "annotations": [annotation for key, item in keys.items() for annotation in _annotations(key, item)],
    }


def _annotations(key: str, item: ItemRecord) -> list[dict[str, Any]]:
    shared = {"id": key, "image_id": video_name(item.video)}
    annotations: list[dict[str, Any]] = [{**shared, "caption": item.caption, "foil": False}]
    for foil_index, foil in enumerate(item.foils):
        annotations.append({**_imported_fields(item, foil_index), **shared, "caption": foil, "foil": True})
    return annotations


def _imported_fields(item: ItemRecord, foil_index: int) -> dict[str, Any]:
    """The further fields of the imported annotation of this foil."""
    annotations = item.extra.get("foils")
    annotation = (
        annotations[foil_index] if isinstance(annotations, list) and len(annotations) == len(item.foils) else None
    )
    return (
        {name: value for name, value in annotation.items() if name not in _TAKEN}
        if isinstance(annotation, dict)
        else {}
    )
