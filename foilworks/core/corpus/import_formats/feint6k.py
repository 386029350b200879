"""`feint6k`: the CSV files of Feint6K (Feint6K, Sec. 3.2): `video_id, sentence`, six rows per video, the
positive caption first and then its five counterfactuals.

Rows of one video that are together are its block; where they are not a multiple of six the block is bad, and the next
video is read as if nothing had happened. Further columns are kept from the block's first row.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    clip_key,
    default_subtest,
    given_dataset,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, read_rows
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome, VideoRecord
from foilworks.core.text.quoting import quoted

BLOCK = 6
_COLUMNS = frozenset({"video_id", "sentence"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The blocks of a Feint6K file. CorpusError when the file as a whole cannot be read."""
    subtest, names = default_subtest(path, params), Names()
    rows = read_rows(path, ["video_id", "sentence"], COMMA, names=("video_id",))
    yield from read_records(path, _blocks(rows), lambda record: _parse(record, subtest, params, names), own_ids=False)


def _blocks(rows: Iterable[RawRecord]) -> Iterator[RawRecord]:
    for video, video_rows in groupby(rows, key=lambda row: row.value.get("video_id")):
        block = list(video_rows)
        first = block[0].line
        broken = next((row for row in block if row.problem), None)
        if broken is not None:
            yield RawRecord(None, None, broken.line, broken.problem, "row")
        elif video is None:
            yield RawRecord(None, None, first, "is missing", "video_id")
        elif len(block) % BLOCK:
            problem = f"{quoted(video)} has {len(block)} rows together, not {BLOCK}: one caption and its five foils"
            yield RawRecord(None, None, first, problem, "video_id")
        else:
            for start in range(0, len(block), BLOCK):
                piece = block[start : start + BLOCK]
                sentences = {f"sentence {row.line}": row.value["sentence"] for row in piece}
                yield RawRecord(video, {"sentences": sentences, "first": piece[0].value}, piece[0].line)


def _parse(raw: RawRecord, subtest: str, params: Mapping[str, Any], names: Names) -> ItemRecord:
    fields = Fields(raw.value["first"])
    video = checked_id("video_id", fields.label("video_id", MAX_ID))
    texts = tuple(_sentence(name, value) for name, value in raw.value["sentences"].items())
    dataset = given_dataset(params)
    return ItemRecord(
        id=checked_id("video_id", f"{subtest}:{names.name(video, texts)}"),
        subtest=subtest,
        video=VideoRecord(
            key=clip_key(dataset, video, None, None, "sec"),
            file=fields.media_name("video_id"),
            source_dataset=dataset,
            source_id=video,
        ),
        caption=texts[0],
        foils=texts[1:],
        extra=fields.without(_COLUMNS),
        line=raw.line,
    )


def _sentence(name: str, value: Any) -> str:
    """The text; a bad one is named by the line it stands on, since a record has six of them."""
    try:
        return check_sentence("sentence", value)
    except ProblemError as error:
        raise ProblemError("sentence", f"on line {name.partition(' ')[2]} {error.problem}", error.fix) from error
