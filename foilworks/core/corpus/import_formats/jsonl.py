"""`jsonl`: one JSON object per line; the columns are listed in docs/reference/formats.md and in COLUMNS.

A line with `caption` and `foil` (or `foils`) is an item; a line without a foil is a caption to make foils for. Unknown
columns are stored as facts of the item and its caption, which methods and analyses read (`count` …). A file without
captions that names a class per video is a list of videos (parsing/video_rows.py).
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.clip_fields import clip_of
from foilworks.core.corpus.import_formats.parsing.column_names import is_negative
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    default_subtest,
    json_lines,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.text_files import MAX_SAMPLE, Source, holds_texts
from foilworks.core.corpus.import_formats.parsing.text_items import read_text_items
from foilworks.core.corpus.import_formats.parsing.video_rows import lists_videos, read_videos
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord, PairRecord, ReadOutcome

TAKES_LIMITS = True
COLUMNS = {
    "id": "name of the record, unique in the project (required)",
    "video": "path of the media file below --media",
    "url": "address that the browser loads if there is no file and its host is one of `MEDIA_HOSTS`",
    "video_key": "name of the clip; made from source and trim when left out",
    "source_dataset": "data set that the video is from",
    "source_id": "id of the uncut video there",
    "start_time": "start of the clip in the video",
    "end_time": "end of the clip in the video",
    "time_unit": "sec (default), pts (ticks of the file's clock) or frames (numbered from 0)",
    "split": "train, val or test",
    "class_label": "class of the video",
    "category": "category of the video",
    "movie": "movie that the clip is from",
    "caption": "sentence that is true of the video (required)",
    "foil": "one false sentence",
    "foils": "list of false sentences",
    "subtest": "subtest of the item; the name of the file when left out",
    "test": "phenomenon that several subtests share",
    "pair": "name that two items share: each has its own clip, and the other's caption as its foil",
    "proficiency": 'simpler pair of the same video: {"caption", "foils", "votes", "extra"}',
    "votes": 'counts of validators: {"caption", "foil", "other"}',
    "facts": "object with facts that methods read; columns not named here are added to it",
    "extra": "object with anything else, returned on export",
    "canary": "mark of the release in exports; not stored",
}
# A record has at least one of them.
NAMES_OF_CLIPS = ("video", "url", "source_id", "video_key")
_COLUMNS = frozenset(COLUMNS)
_PAIR_FIELDS = frozenset({"caption", "foil", "foils", "votes", "extra"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of a JSON-lines file. CorpusError when the file as a whole cannot be read."""
    if lists_videos(path):
        yield from read_videos(path, params)
        return
    if not _are_our_records(path) and holds_texts(Source(path)):
        yield from read_text_items(path, params)
        return
    subtest = default_subtest(path, params)
    yield from read_records(path, json_lines(path), lambda raw: parse(raw, subtest))


def are_our_columns(names: Collection[str]) -> bool:
    """Report whether a record has an id and a caption, and no false text under another name than ours."""
    has_foils = bool({"foil", "foils"} & {*names}) or not any(map(is_negative, {*names} - _COLUMNS))
    return {"id", "caption"} <= {*names} and has_foils


def _are_our_records(path: Path) -> bool:
    first = [raw.value for raw in islice(json_lines(path), MAX_SAMPLE) if isinstance(raw.value, dict)]
    return any(map(are_our_columns, first))


def parse(raw: RawRecord, subtest: str) -> ItemRecord:
    """One line as a record; ProblemError when it is bad."""
    fields = Fields(raw.value)
    return ItemRecord(
        id=checked_id("id", fields.label("id", MAX_ID)),
        subtest=fields.label("subtest", MAX_LABEL) or subtest,
        test=fields.label("test", MAX_LABEL),
        video=clip_of(fields),
        caption=fields.sentence("caption"),
        foils=fields.foils(),
        proficiency=_pair(fields),
        votes=fields.votes("votes"),
        extra=fields.mapping("extra"),
        facts={**fields.without(_COLUMNS), **fields.mapping("facts")},
        pair=fields.label("pair", MAX_ID),
        line=raw.line,
    )


def _pair(fields: Fields) -> PairRecord | None:
    if fields.get("proficiency") is None:
        return None
    inner = Fields(fields.get("proficiency"), "proficiency")
    foils = inner.foils()
    if not foils:
        raise ProblemError("proficiency.foils", "is missing", "give its foils, or omit proficiency")
    extra = {**inner.without(_PAIR_FIELDS), **inner.mapping("extra")}
    return PairRecord(inner.sentence("caption"), foils, inner.votes("votes"), extra)
