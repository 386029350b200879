"""`msrvtt`: captions as the table of a retrieval split, `video_id, sentence`; of items the caption alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.published_formats import caption_items, texts_of
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts
from foilworks.core.corpus.export_formats.parts.tables import write_rows
from foilworks.core.corpus.records import RecordContent, ReleaseContent

FILE = "captions.csv"


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: no captions, or it cannot be written there."""
    texts = texts_of(caption_items(release))
    rows = [(video, caption) for video, captions in texts.items() for caption in captions]
    facts = manifest_facts(release, "msrvtt", len(rows))
    return write_folder(out, facts, lambda folder: write_rows(folder / FILE, ["video_id", "sentence"], rows, ","))
