"""Vectors of texts: each embedded once, whoever asks and whenever a worker dies; tables of models by hand."""

import os

import numpy as np
import pytest

from evaluation.utd import vector_store
from evaluation.utd.pages import benchmark
from evaluation.utd.vector_formats import FLOAT16
from evaluation.utd.vector_store import TextVectors, evict
from foilworks.core.hub.interfaces import ChatRequest
from foilworks.core.hub.served.wire import messages_of


def encoder(asked):
    def encode(texts):
        asked.extend(texts)
        return np.array([[len(text), text.count("a")] for text in texts], np.float32)

    return encode


def test_a_text_is_embedded_once_for_all(tmp_path):
    asked = []
    ours, theirs = (TextVectors(tmp_path, encoder(asked), batch=2) for _ in range(2))
    texts = ["a", "banana", "b", "a", "cab"]
    places = ours.row_numbers(texts)
    assert ours.table()[places].tolist() == [[1, 1], [6, 3], [1, 0], [1, 1], [3, 1]]
    assert theirs.row_numbers(["banana", "new"]).tolist() == [places[1], 4]
    assert ours.row_numbers(["new"]).tolist() == [4]
    assert sorted(asked) == sorted({*texts, "new"})


@pytest.mark.parametrize("name", ["00000.f32", "00000.keys"])
def test_rows_of_a_killed_worker_are_cut_off(tmp_path, name):
    asked = []
    TextVectors(tmp_path, encoder(asked)).row_numbers(["one", "two"])
    with (tmp_path / name).open("ab") as file:
        file.write(b"half")
    vectors = TextVectors(tmp_path, encoder(asked))
    places = vectors.row_numbers(["two", "three", "one"])
    assert vectors.table()[places].tolist() == [[3, 0], [5, 0], [3, 0]]
    assert (tmp_path / "00000.keys").stat().st_size == 3 * 16
    assert asked.count("one") == 1


def test_many_keys_are_found_whether_sorted_in_or_recent(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_store, "RECENT", 7)
    asked = []
    vectors = TextVectors(tmp_path, encoder(asked), batch=3)
    texts = [f"text {'a' * number}" for number in range(40)]
    for start in range(0, 40, 5):
        vectors.row_numbers(texts[start : start + 5])
    places = vectors.row_numbers(texts)
    assert vectors.table()[places][:, 0].tolist() == [5 + number for number in range(40)]
    assert TextVectors(tmp_path, encoder(asked)).row_numbers(texts).tolist() == vectors.row_numbers(texts).tolist()
    assert len(asked) == 40


def numbered(count):
    return [f"text {'a' * number}" for number in range(count)]


def test_rows_in_several_blocks_are_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_store, "BLOCK_BYTES", 5 * 2 * 4)
    asked = []
    vectors = TextVectors(tmp_path, encoder(asked), batch=3)
    vectors.row_numbers(numbered(20))
    again = TextVectors(tmp_path, encoder(asked))
    places = again.row_numbers(numbered(20)).reshape(10, 2)
    assert again.table()[places][:, :, 1].tolist() == np.arange(20).reshape(10, 2).tolist()
    assert len(list(tmp_path.glob("*.f32"))) == 4
    assert len(asked) == 20


def test_the_one_file_of_earlier_versions_becomes_a_block(tmp_path):
    asked = []
    places = TextVectors(tmp_path, encoder(asked)).row_numbers(["one", "two"])
    (tmp_path / "00000.f32").rename(tmp_path / "vectors.f32")
    (tmp_path / "00000.keys").rename(tmp_path / "keys")
    assert TextVectors(tmp_path, encoder(asked)).row_numbers(["one", "two"]).tolist() == places.tolist()
    assert len(asked) == 2


def test_float16_takes_half_the_size(tmp_path):
    vectors = TextVectors(tmp_path, lambda texts: np.full((len(texts), 4), 1 / 3, np.float32), precision=FLOAT16)
    places = vectors.row_numbers(["a"])
    row = vectors.table()[places]
    assert (tmp_path / "00000.f16").stat().st_size == 8
    assert np.allclose(row, 1 / 3, atol=1e-3)
    assert row.dtype == np.float32


def test_the_oldest_blocks_that_nobody_uses_are_evicted(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_store, "BLOCK_BYTES", 5 * 2 * 4)
    asked = []
    used = TextVectors(tmp_path / "used", encoder(asked), batch=5)
    used.row_numbers(numbered(5))
    idle = TextVectors(tmp_path / "idle", encoder(asked), batch=5)
    idle.row_numbers(numbered(15))
    for block in range(3):
        os.utime(tmp_path / "idle" / f"0000{block}.f32", (block + 1, block + 1))
    assert evict(tmp_path, 3 * 40) == 4 * 40
    del idle
    assert evict(tmp_path, 3 * 40) == 3 * 40
    assert sorted(path.name for path in tmp_path.glob("*/*.f32")) == ["00000.f32", "00001.f32", "00002.f32"]
    asked.clear()
    kept = TextVectors(tmp_path / "idle", encoder(asked), batch=5)
    places = kept.row_numbers(numbered(15))
    assert kept.table()[places][:, 1].tolist() == list(range(15))
    assert len(asked) == 5


def test_models_on_the_splits_by_hand():
    ids = ["1", "2", "3", "4"]
    right = {
        "leaning": {"1": 1.0, "2": 1.0, "3": 1.0, "4": 0.0},
        "steady": {"1": 0.0, "2": 0.0, "3": 1.0, "4": 1.0},
        "half": {"3": 1.0},
    }
    found = benchmark(ids, ids, {"split": ["1", "2"], "balanced": None}, right, draws=200)
    assert found["n"] == {"full": 4, "split": 2}
    cells = {row["model"]: row["cells"] for row in found["models"]}
    assert (cells["leaning"]["full"]["value"], cells["leaning"]["split"]["value"]) == (0.75, 0.5)
    assert cells["leaning"]["split"]["difference"] == -0.25
    assert {row["model"]: row["n_missing"] for row in found["models"]} == {"leaning": 0, "steady": 0, "half": 3}
    assert {"ahead_in_full": "leaning", "ahead_in_split": "steady"} in found["flips"]["split"]
    assert [row["model"] for row in found["order"]["split"]] == ["steady", "half", "leaning"]


def test_a_picture_precedes_the_last_words_in_a_request():
    request = ChatRequest((("system", "s"), ("user", "what?")), images=(b"jpeg",))
    first, last = messages_of(request)
    assert first["content"] == "s"
    assert last["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,anBlZw=="}},
        {"type": "text", "text": "what?"},
    ]
