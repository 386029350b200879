"""Files as libraries write them: Parquet, JSON by columns, NaN for a missing value, several parts in a folder."""

import gzip
import io
import json
import pickle
import zipfile
from pathlib import Path

import pyarrow
import pytest
from pyarrow import feather, parquet

from evaluation.audit.audit import Options, audit, sources_of
from evaluation.audit.file_reader import Problems, read_all
from evaluation.audit.visitor_file import audit_uploaded
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.media.child import ChildLimits, run

PAIRS = [
    {"video_id": f"v{number}", "caption": f"A man {one} a {thing}.", "foil": f"A man {other} a {thing}."}
    for number, (one, other, thing) in enumerate(
        [("opens", "closes", "box"), ("lifts", "drops", "cup"), ("folds", "unfolds", "towel")]
    )
]
COLUMNS = {name: [pair[name] for pair in PAIRS] for name in PAIRS[0]}


def texts(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    problems = Problems()
    found = [(record.right, record.wrongs) for record in read_all([Source(path)], problems)]
    assert problems.examples == []
    return found


EXPECTED = [(pair["caption"], (pair["foil"],)) for pair in PAIRS]


def test_a_parquet_file_is_read_by_the_names_of_its_columns(tmp_path):
    clips = [{"bytes": b"\0\1", "path": pair["video_id"]} for pair in PAIRS]
    parquet.write_table(pyarrow.table({**COLUMNS, "video": clips}), path := tmp_path / "test-00000-of-00001.parquet")
    assert texts(path) == EXPECTED
    assert {(one.video, one.split, one.subtest) for one in read_all([Source(path)], Problems())} == {
        (pair["video_id"], "test", "test") for pair in PAIRS
    }
    of_visitor = run(ChildLimits(), audit_uploaded, [path], "", {}, 100).result
    assert audit([Source(path)], Options())["items"] == of_visitor["items"] == 3


def test_options_in_a_parquet_file_are_lists(tmp_path):
    rows = [{"question": "What?", "candidates": ["it falls", "it flies"], "answer": "it flies", "score": float("nan")}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path := tmp_path / "q.parquet")
    assert texts(path) == [("it flies", ("it falls",))]


def test_the_parts_of_a_folder_are_one_benchmark_with_its_splits(tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("train-00000-of-00001", "test-00000-of-00002", "test-00001-of-00002"):
        parquet.write_table(pyarrow.table(COLUMNS), tmp_path / "data" / f"{name}.parquet")
    found = audit(sources_of(Source(tmp_path)), Options())
    assert (found["items"], len(found["files"])) == (9, 3)
    assert {row["name"]: row["items"] for row in found["subtests"]} == {"train": 3, "test": 6}
    assert next(one for one in found["findings"] if one["check"] == "leakage")["value"] == 1.0
    mapped = sources_of(Source(tmp_path, columns={"right": "foil", "wrongs": "caption"}))
    assert next(read_all([mapped[0]], Problems())).right == PAIRS[0]["foil"]


def test_a_folder_in_our_own_columns_keeps_its_format(tmp_path):
    rows = [{"id": "a", "caption": "It falls.", "foils": ["It flies."], "facts": "{}"}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert [source.form for source in sources_of(Source(tmp_path))] == ["hf"]


def test_a_folder_without_tables_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / ".pairs.json").write_text(json.dumps(PAIRS))
    with pytest.raises(CorpusError, match=r"folder: has no file in Parquet, JSON, .* give the folder of the files, or"):
        sources_of(Source(tmp_path))


@pytest.mark.parametrize("inside", ["", "data"])
def test_the_json_files_and_tables_of_a_folder_are_one_benchmark(inside, tmp_path):
    folder = tmp_path / inside
    folder.mkdir(exist_ok=True)
    (folder / "b.JSON").write_text(json.dumps(PAIRS))
    (folder / "a.jsonl").write_text(json.dumps(PAIRS[0]))
    (folder / "c.csv").write_text("caption,foil\nIt falls.,It flies.\n")
    (folder / "info.json").write_text(json.dumps({"features": {"caption": "string"}}))
    (folder / "answers.json").write_text(json.dumps([{"id": 1, "answer": "It falls."}]))
    found = audit([one for one in sources_of(Source(tmp_path)) if one.path.stem != "answers"], Options())
    assert {row["name"]: row["items"] for row in found["subtests"]} == {"a": 1, "b": 3, "c": 1}
    (problem,) = next(one for one in found["findings"] if one["check"] == "fields")["details"]["problems"]
    assert problem.startswith("info.json:1: record: has no caption with foils")
    beside = sources_of(Source(tmp_path, answers=folder / "answers.json"))
    assert [one.path.name for one in beside] == ["a.jsonl", "b.JSON", "c.csv", "info.json"]


@pytest.mark.parametrize("above", ["", "data"])
def test_each_folder_in_a_folder_is_a_subtest(above, tmp_path):
    """As data sets on the hub have a folder per configuration."""
    for name in ("order", "speed"):
        (tmp_path / above / name).mkdir(parents=True)
        parquet.write_table(pyarrow.table(COLUMNS), tmp_path / above / name / "test-00000-of-00001.parquet")
    (tmp_path / ".cache").mkdir()
    parquet.write_table(pyarrow.table(COLUMNS), tmp_path / ".cache" / "test.parquet")
    found = audit(sources_of(Source(tmp_path)), Options())
    assert [one["name"] for one in found["files"]] == [
        f"{name}/test-00000-of-00001.parquet" for name in ("order", "speed")
    ]
    assert {row["name"]: row["items"] for row in found["subtests"]} == {"order": 3, "speed": 3}
    (tmp_path / above / "speed" / "feint6k.csv").write_text("video_id,sentence\nv,It falls.\n")
    (tmp_path / above / "order" / "pairs.json").write_text(json.dumps([{"caption": "It falls."}]))
    for name in ("order", "speed"):
        (tmp_path / above / name / "test-00000-of-00001.parquet").unlink()
    problems = Problems()
    assert list(read_all(sources_of(Source(tmp_path)), problems)) == []
    assert problems.n == 1
    assert "so there is nothing to compare" in problems.files[0]


def test_a_folder_with_the_name_of_a_split_is_one(tmp_path):
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pairs.json").write_text(json.dumps(PAIRS))
    found = audit(sources_of(Source(tmp_path)), Options())
    assert next(one for one in found["findings"] if one["check"] == "leakage")["value"] == 1.0


def test_the_ending_of_a_parquet_file_may_be_in_capitals(tmp_path):
    parquet.write_table(pyarrow.table(COLUMNS), tmp_path / "A.PARQUET")
    assert audit(sources_of(Source(tmp_path)), Options())["items"] == 3


@pytest.mark.parametrize("by_number", [False, True])
def test_json_by_columns_is_a_table(by_number, tmp_path):
    value = {name: dict(enumerate(cells)) for name, cells in COLUMNS.items()} if by_number else COLUMNS
    (tmp_path / "a.json").write_text(json.dumps(value))
    assert texts(tmp_path / "a.json") == EXPECTED


def test_cells_belong_to_the_row_of_their_name(tmp_path):
    foils = dict(reversed(list(enumerate(COLUMNS["foil"]))))
    (tmp_path / "a.json").write_text(json.dumps({"caption": dict(enumerate(COLUMNS["caption"])), "foil": foils}))
    assert texts(tmp_path / "a.json") == EXPECTED


@pytest.mark.parametrize(
    "value",
    [
        {"caption": PAIRS[:1], "question": PAIRS[1:2]},
        {"caption": PAIRS[0], "question": PAIRS[1]},
        {pair["video_id"]: pair for pair in PAIRS},
    ],
)
def test_records_in_lists_or_by_id_are_not_columns(value, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(value))
    assert texts(tmp_path / "a.json") == EXPECTED[: len(value)]


def test_columns_of_different_lengths_are_not_a_table(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({**COLUMNS, "foil": ["It flies."]}))
    problems = Problems()
    assert list(read_all([Source(tmp_path / "a.json")], problems)) == []
    assert problems.n > 0


def test_nan_is_a_missing_value(tmp_path):
    rows = [{**pair, "score": float("nan"), "more": {"of": [float("nan")]}} for pair in PAIRS]
    rows.append({**PAIRS[0], "foil": float("nan"), "false_caption": "A man paints a box."})
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert texts(tmp_path / "a.jsonl") == [*EXPECTED, (PAIRS[0]["caption"], ("A man paints a box.",))]


def archive() -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.json", json.dumps(PAIRS * 50))
    return file.getvalue()


def arrow() -> bytes:
    feather.write_feather(pyarrow.table(COLUMNS), file := io.BytesIO(), compression="uncompressed")
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl.gz", gzip.compress(json.dumps(PAIRS).encode()), "is compressed; unpack it first"),
        ("a.zip", archive(), "is a ZIP archive; unpack it"),
        ("a.json", json.dumps(PAIRS).encode("utf-16")[:-1], "is not whole UTF-16"),
        ("a.pkl", pickle.dumps(PAIRS), "is a Python pickle; save its table as CSV or JSON lines"),
        ("a.arrow", arrow(), "is an Arrow file; save it as Parquet or JSON lines"),
        ("a.data", b"PAR1\x15\x04\xff", "is a Parquet file; give it a name that ends in .parquet"),
        ("a.csv", b"caption,foil\ncaf\xe9,tea\n", ":2: encoding: byte 0xe9 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_binary_file_is_named(name, content, said, tmp_path):
    (path := tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError) as refused:
        list(read_all([Source(path)], Problems()))
    assert said in str(refused.value)
