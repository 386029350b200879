"""Descriptions read as a stream: the same records as from the whole file, and errors with their line."""

import json

import pytest

from evaluation.errors import EvaluationError
from evaluation.utd import streamed_json
from evaluation.utd.streamed_json import members
from evaluation.utd.utd_files import read_descriptions


@pytest.mark.parametrize("chunk", [1, 7, 2**20])
def test_members_are_those_of_the_whole_file(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(streamed_json, "CHUNK", chunk)
    data = {"a": {"objects": ['cup, \u00e4 "x"', ""]}, "b {": [1.5, -12, None, True], "c": "}", "d": 123}
    path = tmp_path / "d.json"
    for text in (json.dumps(data), json.dumps(data, indent=2, ensure_ascii=False) + "\n", "\ufeff" + json.dumps(data)):
        path.write_text(text, encoding="utf-8")
        assert dict(members(path)) == data


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", ":1: record: is not an object"),
        ("{}", ":1: record: is empty"),
        ('{"a": 1,\n"b" 2}', ":2: JSON: ':' is missing"),
        ('{"a": 1,\n\n"b": {"c":\n nothing}}', ":4: JSON"),
        ('{"a": 1', ":1: JSON: ',' is missing"),
        ('{"a": 1} x', "text follows"),
        ("", "record: is not an object"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 2**20])
def test_a_fault_has_its_line(tmp_path, monkeypatch, text, problem, chunk):
    monkeypatch.setattr(streamed_json, "CHUNK", chunk)
    path = tmp_path / "d.json"
    path.write_text(text)
    with pytest.raises(EvaluationError) as caught:
        list(members(path))
    assert problem in str(caught.value)


def test_concepts_in_separate_files_are_joined_by_video(tmp_path):
    (tmp_path / "o.json").write_text(json.dumps({"b": {"objects": ["x", "y"]}, "a": {"objects": ["z", "w"]}}))
    (tmp_path / "v.json").write_text(json.dumps({"a": {"verbs": ["runs", ""]}}))
    found = read_descriptions([tmp_path / "o.json", tmp_path / "v.json"])
    assert list(found) == ["b", "a"]
    assert found["a"] == [{"objects": "z", "verbs": "runs"}, {"objects": "w", "verbs": ""}]
    (tmp_path / "v.json").write_text(json.dumps({"a": {"verbs": ["runs"]}}))
    with pytest.raises(EvaluationError, match="a: its concepts have 1 to 2 frames"):
        read_descriptions([tmp_path / "o.json", tmp_path / "v.json"])
