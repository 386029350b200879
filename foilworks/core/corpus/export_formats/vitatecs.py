"""`vitatecs`: a caption and one counterfactual per line, one file per aspect, as VITATECS has it. Other items are left
out, and the manifest names them."""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import write_lines
from foilworks.core.corpus.export_formats.parts.published_formats import kept_fields, write_pairs
from foilworks.core.corpus.export_formats.parts.tables import video_name
from foilworks.core.corpus.import_formats.parsing.records import stem_of
from foilworks.core.corpus.import_formats.parsing.table_recipe import parse_recipe, recipe_named
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent, VideoRecord


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no item has one foil, or it cannot be written."""
    return write_pairs(release, out, "vitatecs", ".jsonl", lambda path, items: write_lines(path, map(_line, items)))


def _file_name(video: VideoRecord) -> str:
    """The name of a file, as the published code opens it."""
    name = video_name(video)
    return name if stem_of(name) != name else f"{name}{PurePath(video.file).suffix or '.mp4'}"


def _line(item: ItemRecord) -> dict[str, Any]:
    return {
        **kept_fields(item, frozenset(parse_recipe(recipe_named("vitatecs")).used)),
        "src_dataset": item.video.source_dataset,
        "video_name": item.extra.get("video_name") or _file_name(item.video),
        "caption": item.caption,
        "counterfactual": item.foils[0],
        "aspect": item.subtest,
    }
