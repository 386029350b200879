"""What rows of a Parquet file need in memory is known before they are decoded."""

import pytest

from foilworks.core.corpus.import_formats import hf
from foilworks.core.corpus.import_formats.parsing.parquet_rows import decoded_bytes, parquet_rows

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
# Two texts of 3 and 100 bytes, the second three times, and a null.
TEXTS = arrow.DictionaryArray.from_arrays(arrow.array([0, 1, 1, 1, None], arrow.int32()), ["abc", "é" * 50])


def test_each_value_counts_as_often_as_it_is_used():
    assert decoded_bytes(TEXTS) == TEXTS.indices.nbytes + 303
    assert decoded_bytes(TEXTS.slice(1, 2)) == TEXTS.indices.slice(1, 2).nbytes + 200
    numbers = arrow.DictionaryArray.from_arrays(arrow.array([0, 1, 1], arrow.int8()), arrow.array([7, 8]))
    assert decoded_bytes(numbers) == 3 * 1 + 3 * 8


def test_a_dictionary_that_all_batches_share_counts_once_per_use(tmp_path):
    """A thousand texts of 1 KB are the dictionary of 16 batches, and a megabyte in all."""
    path = tmp_path / "a.parquet"
    texts = [f"{number:03}" + "x" * 1000 for number in range(1000)]
    parquet.write_table(arrow.table({"id": texts, "caption": texts}), path, row_group_size=1000)
    assert sum(len(rows) for rows in parquet_rows(path, (), 3 * 1024**2)) == 1000


def test_texts_inside_of_other_values_count_too():
    flat = decoded_bytes(TEXTS)
    in_list = arrow.ListArray.from_arrays([0, 2, 5], TEXTS)
    assert decoded_bytes(in_list) == flat + 2 * 8
    assert decoded_bytes(in_list.slice(0, 1)) < decoded_bytes(in_list) - 200
    assert decoded_bytes(arrow.StructArray.from_arrays([TEXTS, TEXTS], ["a", "b"])) == 2 * flat
    keys = arrow.array(["1", "2", "3", "4", "5"])
    assert decoded_bytes(arrow.MapArray.from_arrays([0, 5], keys, TEXTS)) == keys.nbytes + flat
    assert decoded_bytes(arrow.record_batch([TEXTS, keys], ["a", "b"])) == keys.nbytes + flat


def test_rows_come_in_batches_that_fit(tmp_path, monkeypatch):
    monkeypatch.setattr("foilworks.core.corpus.import_formats.parsing.parquet_rows.MAX_LINE_BYTES", 2_000)
    path = tmp_path / "a.parquet"
    texts = ["x" * 600] * 10
    parquet.write_table(arrow.table({"id": [str(number) for number in range(10)], "caption": texts}), path)
    lists = list(parquet_rows(path, (), 0))
    assert [len(rows) for rows in lists] == [2, 3, 2, 3]
    assert [row["id"] for rows in lists for row in rows] == [str(number) for number in range(10)]
    monkeypatch.setattr("foilworks.core.corpus.import_formats.parsing.parquet_rows.MAX_LINE_BYTES", 400)
    with pytest.raises(hf.CorpusError, match=r"a.parquet:1: row: has \d+ bytes, more than 400; shorten its texts"):
        list(parquet_rows(path, (), 0))
