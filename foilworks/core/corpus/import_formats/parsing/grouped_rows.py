"""Repeat the video that is written only in the first of its rows, as people write and merge cells. Pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from foilworks.core.corpus.import_formats.parsing.column_names import NAMES, has_word, plain_name
from foilworks.core.corpus.import_formats.parsing.column_profiles import VIDEO_FILE
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.row_values import Row

# Rows that show whether a table has groups.
MAX_GROUPED = 50
# Share of the rows without a video, at least: fewer are forgotten cells.
_MIN_BLANK = 0.25


def grouping_columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns of videos whose first row has a value, and of which no value comes twice."""
    columns = []
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows if name in row]
        is_named = plain_name(name) in NAMES["video"] or has_word(name, "video")
        is_video = is_named or all(VIDEO_FILE.fullmatch(str(value)) for value in values)
        if is_video and len(values) == len({*values}) and len(rows) - len(values) >= _MIN_BLANK * len(rows):
            columns.append(name)
    return columns


def with_groups(rows: Iterable[RawRecord], columns: Collection[str]) -> Iterator[RawRecord]:
    """Yield the rows; an empty cell of the columns has the value of the row above."""
    above: dict[str, object] = {}
    for raw in rows:
        if columns and not raw.problem:
            above |= {name: raw.value[name] for name in columns if name in raw.value}
            raw = raw._replace(value={**above, **raw.value})
        yield raw
