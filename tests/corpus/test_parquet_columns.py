"""Parquet columns of any type: they come in as JSON says them, or the file is refused in one line."""

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import hf
from foilworks.core.corpus.records import ItemRecord, RecordWarning

NEEDED = {"id": ["a"], "video": ["a.mp4"], "caption": ["a man sits."]}


def read(tmp_path, column):
    """The outcomes of a file whose last column, `more`, is the Arrow array."""
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({**NEEDED, "more": column}), path)
    return list(hf.read(path, params={}))


@pytest.mark.parametrize(
    ("values", "kind", "fact"),
    [
        ([datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)], pa.timestamp("us", "UTC"), "2026-01-02T03:04:05+00:00"),
        ([date(2026, 1, 2)], pa.date32(), "2026-01-02"),
        ([time(3, 4)], pa.time64("us"), "03:04:00"),
        ([timedelta(seconds=1.5)], pa.duration("ms"), 1.5),
        ([Decimal("2.00")], pa.decimal128(5, 2), 2),
        ([Decimal("2.50")], pa.decimal128(5, 2), 2.5),
        ([1.5], pa.float16(), 1.5),
        ([2**60], pa.int64(), 2**60),
        (["x"], pa.dictionary(pa.int8(), pa.string()), "x"),
        ([[("a", 1)]], pa.map_(pa.string(), pa.int64()), {"a": 1}),
        ([[(1, date(2026, 1, 2))]], pa.map_(pa.int64(), pa.date32()), {"1": "2026-01-02"}),
        ([{"when": date(2026, 1, 2), "no": None}], pa.struct([("when", pa.date32()), ("no", pa.int8())]), None),
        ([[Decimal("1"), None]], pa.list_(pa.decimal128(3, 0)), [1, None]),
    ],
)
def test_a_column_of_any_type_is_a_fact_that_json_can_say(tmp_path, values, kind, fact):
    (item,) = read(tmp_path, pa.array(values, kind))
    assert isinstance(item, ItemRecord)
    assert item.facts == {"more": {"when": "2026-01-02"} if fact is None else fact}
    assert json.loads(json.dumps(item.facts)) == item.facts


def test_a_uuid_is_its_text(tmp_path):
    value = UUID(int=7)
    (item,) = read(tmp_path, pa.array([value.bytes], pa.uuid()))
    assert item.facts == {"more": str(value)}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"x", pa.binary()),
        (b"x", pa.large_binary()),
        (b"x", pa.binary(1)),
        (b"x", pa.binary_view()),
        ({"bytes": b"x", "path": "a.png"}, pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        ([b"x"], pa.list_(pa.binary())),
    ],
)
def test_a_column_of_bytes_is_left_out_and_named(tmp_path, value, kind):
    warning, item = read(tmp_path, pa.array([value], kind))
    assert isinstance(warning, RecordWarning)
    assert str(warning).endswith("x.parquet:1: more: contains binary data, which records cannot: column skipped")
    assert item.facts == {}


def test_bytes_where_text_is_needed_are_one_line(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({**NEEDED, "caption": pa.array([b"x"])}), path)
    with pytest.raises(CorpusError) as caught:
        list(hf.read(path, params={}))
    assert (
        str(caught.value)
        == f"{path}:1: caption: contains binary data; give sentence that is true of the video (required)"
    )


def test_a_time_out_of_range_gives_one_line(tmp_path):
    with pytest.raises(CorpusError, match="columns: a value cannot be read"):
        read(tmp_path, pa.array([2**52], pa.timestamp("ms")))
