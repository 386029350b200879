"""`valse`: the JSON files of VALSE, the model of ViLMA's; one file per instrument.

As `vilma`, and: the clip is a still picture (`image_file`), so that equal pictures of several files are one clip and no
video file is looked for; captions may be in a list, as the instrument of plurals has them: the first one counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats import vilma
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, clip_key, default_subtest, read_records
from foilworks.core.corpus.records import MAX_DATASET, MAX_ID, ItemRecord, ReadOutcome


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of a VALSE file. CorpusError, with the line, when it is not whole JSON."""
    subtest = default_subtest(path, params)
    raw = [RawRecord(*member) for member in members(path, read_text(path))]
    yield from read_records(path, raw, lambda record: parse(record, subtest))


def parse(raw: RawRecord, subtest: str) -> ItemRecord:
    """One record; ProblemError when it is bad."""
    fields = Fields(raw.value)
    has_own_fields = fields.get(vilma.OWN_FIELD) is not None
    picture = fields.label("image_file", MAX_ID)
    if not picture and not has_own_fields:
        raise ProblemError("image_file", "is missing", "give image_file, or import videos as vilma")
    captions = fields.get("caption")
    if isinstance(captions, list) and captions:
        raw = raw._replace(value={**raw.value, "caption": captions[0]})
    item = vilma.parse(raw, subtest)
    if has_own_fields:  # as our exporter wrote it, where the format alone could not say it
        return item
    dataset = fields.label("dataset", MAX_DATASET)
    video = replace(item.video, key=clip_key(dataset, picture, None, None, "sec"), file="", source_id=picture)
    caption_list = {"captions": captions} if isinstance(captions, list) and len(captions) > 1 else {}
    return replace(item, video=video, extra={**item.extra, **caption_list})
