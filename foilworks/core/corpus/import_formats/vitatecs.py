"""`vitatecs`: the JSON-lines files of VITATECS, one per aspect of time: a caption of MSR-VTT or VATEX
and one counterfactual.

The aspect (`Direction`, `Sequence` …) is the subtest. A video's further records of an aspect get `#2`, `#3`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    default_subtest,
    json_lines,
    read_records,
    stem_of,
    video_of,
)
from foilworks.core.corpus.records import MAX_DATASET, MAX_LABEL, ItemRecord, ReadOutcome

COLUMNS = frozenset({"src_dataset", "video_name", "caption", "counterfactual", "aspect"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of a VITATECS file. CorpusError when the file as a whole cannot be read."""
    subtest, names = default_subtest(path, params), Names()
    has_subtest = bool(params.get("subtest"))
    yield from read_records(path, json_lines(path), lambda raw: _parse(raw, subtest, has_subtest, names), own_ids=False)


def _parse(raw: RawRecord, subtest: str, has_subtest: bool, names: Names) -> ItemRecord:
    fields = Fields(raw.value)
    name, dataset = fields.media_name("video_name"), fields.label("src_dataset", MAX_DATASET)
    if not name:
        raise ProblemError("video_name", "is missing", "give the name of the video")
    caption = fields.sentence("caption")
    foil = fields.sentence("counterfactual")
    aspect = subtest if has_subtest else fields.label("aspect", MAX_LABEL) or subtest
    return ItemRecord(
        id=checked_id("video_name", f"{aspect}:{names.name(stem_of(name), (caption, foil))}"),
        subtest=aspect,
        video=video_of(dataset, name),
        caption=caption,
        foils=(foil,),
        # As the file has it: the published code joins it to a folder.
        extra={**fields.without(COLUMNS), "video_name": name},
        line=raw.line,
    )
