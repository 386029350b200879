"""Vectors of texts: each embedded once, whoever asks and whenever a worker dies; tables of models by hand."""

import numpy as np
import pytest

from evaluation.utd import representations
from evaluation.utd.pages import benchmark
from evaluation.utd.representations import TextVectors
from hub.interfaces import ChatRequest
from hub.served.wire import messages_of


def encoder(asked):
    def encode(texts):
        asked.extend(texts)
        return np.array([[len(text), text.count("a")] for text in texts], np.float32)

    return encode


def test_a_text_is_embedded_once_for_all(tmp_path):
    asked = []
    ours, theirs = (TextVectors(tmp_path, encoder(asked), batch=2) for _ in range(2))
    texts = ["a", "banana", "b", "a", "cab"]
    places = ours.places(texts)
    assert ours.table()[places].tolist() == [[1, 1], [6, 3], [1, 0], [1, 1], [3, 1]]
    assert theirs.places(["banana", "new"]).tolist() == [places[1], 4]
    assert ours.places(["new"]).tolist() == [4]
    assert sorted(asked) == sorted({*texts, "new"})


@pytest.mark.parametrize("name", ["vectors.f32", "keys"])
def test_rows_of_a_killed_worker_are_cut_off(tmp_path, name):
    asked = []
    TextVectors(tmp_path, encoder(asked)).places(["one", "two"])
    with (tmp_path / name).open("ab") as file:
        file.write(b"half")
    vectors = TextVectors(tmp_path, encoder(asked))
    places = vectors.places(["two", "three", "one"])
    assert vectors.table()[places].tolist() == [[3, 0], [5, 0], [3, 0]]
    assert (tmp_path / "keys").stat().st_size == 3 * 16
    assert asked.count("one") == 1


def test_many_keys_are_found_whether_sorted_in_or_recent(tmp_path, monkeypatch):
    monkeypatch.setattr(representations, "RECENT", 7)
    asked = []
    vectors = TextVectors(tmp_path, encoder(asked), batch=3)
    texts = [f"text {'a' * number}" for number in range(40)]
    for start in range(0, 40, 5):
        vectors.places(texts[start : start + 5])
    places = vectors.places(texts)
    assert vectors.table()[places][:, 0].tolist() == [5 + number for number in range(40)]
    assert TextVectors(tmp_path, encoder(asked)).places(texts).tolist() == vectors.places(texts).tolist()
    assert len(asked) == 40


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
