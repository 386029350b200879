"""Croissant metadata (MLCommons, version 1.0) of an exported data set folder: its files with their hashes, and what
their columns mean."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.corpus.records import ReleaseContent

VERSION = "http://mlcommons.org/croissant/1.0"
PARQUET = "application/x-parquet"
# The JSON-LD context that the Croissant specification prints in its appendix.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
DESCRIPTION = "Videos with captions that are true of them and foils, minimal edits that are false of them."
LISTS = ("foils", "options")
FIELDS = {
    "id": "name of the item, unique in the data set",
    "subtest": "subtest of the item",
    "test": "phenomenon that several subtests share",
    "caption": "sentence that is true of the video",
    "foils": "minimal edits of the caption that are false of the video",
    "video": "file name of the video, which is not part of the data set",
    "url": "address of the video",
    "source_dataset": "data set that the video is from",
    "source_id": "id of the uncut video there",
    "start_time": "start of the clip in the video",
    "end_time": "end of the clip in the video",
    "time_unit": "sec, pts or frames",
}


def croissant(release: ReleaseContent, folder: Path, files: Sequence[str]) -> dict[str, Any]:
    """The document for the Parquet `files` of `folder`, whose addresses are relative to the folder above."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": _name(f"{release.project}-{release.release}"),
        "description": f"{DESCRIPTION} {release.canary}".rstrip(),
        "datePublished": release.created_at,
        "version": f"1.0.0+{release.content_hash[:12]}",
        "identifier": f"sha256:{release.content_hash}",
        "isLiveDataset": False,
        "distribution": [file_object(folder / name) for name in files],
        "recordSet": [record_set(name, FIELDS) for name in files],
    }


def file_object(path: Path) -> dict[str, Any]:
    """Describe a Parquet file, whose address is relative to the folder above its own."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": f"{path.parent.name}/{path.name}",
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": PARQUET,
        "sha256": digest,
    }


def record_set(file: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Describe the rows of a Parquet file: {column: its meaning}."""
    name = _name(file.removesuffix(".parquet"))
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": {"@id": f"{name}/id"},
        "field": [_field(name, file, column, meaning) for column, meaning in fields.items()],
    }


def _field(records: str, file: str, column: str, meaning: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{column}",
        "name": column,
        "description": meaning,
        "dataType": "sc:Float" if column.endswith("_time") else "sc:Text",
        **({"repeated": True} if column in LISTS else {}),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }


def _name(text: str) -> str:
    """Croissant's names: letters, digits, dash, underscore, dot."""
    return "".join(ch if ch.isascii() and (ch.isalnum() or ch in "-_.") else "-" for ch in text) or "unnamed"
