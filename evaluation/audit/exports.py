"""Read the released items of a folder that `foilworks export` wrote, or of the archive of a public page."""

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.corpus.export_formats.parts.manifest import MANIFEST, read_manifest
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.corpus.release_records import item_record

# The format of a whole export; only it also comes as an archive.
WHOLE = "foilworks"
ITEMS = "items.jsonl"
GATE = "tables/gate.json"
# Formats whose files an importer of the same name reads.
OF_FILES = frozenset(
    {
        "jsonl",
        "csv",
        "vilma",
        "valse",
        "contrast",
        "feint6k",
        "vitatecs",
        "sugarcrepe",
        "winoground",
        "foil-coco",
    }
)
# Folders of Parquet files.
OF_FOLDERS = frozenset({"hf", "hub"})
# What reading an archive that is no archive of ours can raise; RuntimeError: a password, another compression.
UNREADABLE = (OSError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def manifest_of(path: Path) -> dict[str, Any]:
    """Return the manifest of an export; empty if the path is not one."""
    with suppress(*UNREADABLE), _open_file(path, MANIFEST) as file:
        return read_manifest(file.read()) or {}
    return {}


def gate_of(path: Path) -> dict[str, Any]:
    """Return what a whole export says of its gate; empty if it says nothing."""
    with suppress(ValueError, *UNREADABLE), _open_file(path, GATE) as file:
        gate = json.load(file)
        return gate if isinstance(gate, dict) else {}
    return {}


def files_of(path: Path) -> list[tuple[Path, str]] | None:
    """Return the files of an export with their formats; None if the path is not an export.

    EvaluationError: the export has a format without items.
    """
    if not (manifest := manifest_of(path)):
        return None
    form = str(manifest.get("format", ""))
    if form == WHOLE:
        return [(path, WHOLE)]
    if form in OF_FOLDERS and path.is_dir():
        return [(path, "hf")]
    names = sorted(manifest["files"])
    if form not in OF_FILES or not names or not path.is_dir():
        raise EvaluationError(
            f"{path}: is an export in the format {form}, which has no files to audit; export the release with "
            "`foilworks export foilworks`, and audit that folder"
        )
    return [(path / name, form) for name in names]


def released(path: Path) -> Iterator[ItemRecord]:
    """Yield the released items of a whole export. EvaluationError: a line is not an item of an export."""
    for number, line in enumerate(_lines(path), 1):
        try:
            record = json.loads(line)
            item = item_record(record) if record.get("released") else None
            if item is not None and not _is_sound(item):
                raise TypeError("a field has another type")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise EvaluationError(
                f"{path}: {ITEMS}:{number}: is not an item of an export; check the folder with `foilworks verify`"
            ) from error
        if item is not None:
            yield item


def _is_sound(item: ItemRecord) -> bool:
    """Report whether the fields that an audit reads have their types: the file may be from anybody."""
    video = item.video
    texts = (item.id, item.subtest, item.caption, *item.foils, video.key, video.file, video.source_id, video.split)
    return all(isinstance(text, str) for text in texts) and all(
        isinstance(mapping, Mapping) for mapping in (item.facts, item.extra)
    )


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with _open_file(path, ITEMS) as file:
            yield from file
    except UNREADABLE as error:
        raise EvaluationError(f"{path}: {ITEMS}: cannot be read; check the folder with `foilworks verify`") from error


@contextmanager
def _open_file(path: Path, name: str) -> Iterator[Any]:
    """Open a file of the export for reading bytes. KeyError: the archive has none of that name."""
    if not zipfile.is_zipfile(path):
        with (path / name).open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        # An archive has one folder, which is named after the release.
        names = [entry for entry in archive.namelist() if entry == name or entry.split("/")[1:] == [name]]
        with archive.open(names[0] if names else name) as file:
            yield file
