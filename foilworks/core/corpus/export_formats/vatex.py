"""`vatex`: captions as `[{"videoID", "enCap": […]}]`; of items the caption, without its foils."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import write_folder, write_json
from foilworks.core.corpus.export_formats.parts.published_formats import caption_items, texts_of
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts
from foilworks.core.corpus.records import RecordContent, ReleaseContent

FILE = "captions.json"


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no captions, or it cannot be written there."""
    videos = [{"videoID": video, "enCap": texts} for video, texts in texts_of(caption_items(release)).items()]
    facts = manifest_facts(release, "vatex", sum(len(video["enCap"]) for video in videos))
    return write_folder(out, facts, lambda folder: write_json(folder / FILE, videos))
