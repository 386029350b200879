"""Files without some of their records: the rest is as it was, in every form."""

import csv
import json

import pytest

from foilworks.core.corpus.import_formats.parsing.record_removal import content_without, units_of
from foilworks.core.corpus.import_formats.parsing.text_files import Source, read_texts

ROWS = [{"qid": f"q{n}", "extra": {"a": n}, "caption": f'He "runs", {n}é', "foil": f"She sits {n}"} for n in range(4)]
QUESTION = {"options": ["left", "right"], "answer": 0}


def without(path, removed):
    records = [texts[0] for texts in read_texts(Source(path))]
    units = units_of(path, records)
    kept = [unit for at, unit in enumerate(units) if at not in removed]
    return content_without(path, kept, [units[at] for at in removed])


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_that_stay_are_copied(tmp_path, ending):
    lines = [json.dumps(row, ensure_ascii=bool(at % 2)) for at, row in enumerate(ROWS)]
    path = tmp_path / "a.jsonl"
    path.write_bytes("".join(line + ending for line in lines).encode())
    assert without(path, [1, 3]).decode() == lines[0] + ending + lines[2] + ending


def test_rows_with_line_breaks_stay_whole(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["note", "caption", "foil"])
        writer.writerows([[f"a\nb{n}", f"He, {n}", f"She {n}"] for n in range(3)])
    assert without(path, [1]).decode() == 'note,caption,foil\r\n"a\nb0","He, 0",She 0\r\n"a\nb2","He, 2",She 2\r\n'


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_json_keeps_its_form(tmp_path, indent):
    for document, expected in (
        (ROWS, ROWS[1:]),
        ({row["qid"]: row for row in ROWS}, {row["qid"]: row for row in ROWS[1:]}),
        ({"about": "x", "data": ROWS}, {"about": "x", "data": ROWS[1:]}),
    ):
        path = written(tmp_path / "a.json", json.dumps(document, indent=indent))
        assert without(path, [0]).decode() == json.dumps(expected, indent=indent)


def test_json_by_columns_loses_a_cell_per_column(tmp_path):
    columns = {"caption": ["a runs", "b runs", "c runs"], "foil": ["a sits", "b sits", "c sits"], "video": [1, 2, 3]}
    path = written(tmp_path / "a.json", json.dumps(columns))
    assert json.loads(without(path, [1])) == {name: [cells[0], cells[2]] for name, cells in columns.items()}


def test_a_question_of_a_list_leaves_alone_and_a_pair_of_an_object_as_a_whole(tmp_path):
    videos = [
        {"video": f"v{n}", "qa": [{"question": f"Where {n} {k}?", **QUESTION} for k in range(2)]} for n in range(2)
    ]
    path = written(tmp_path / "a.jsonl", "".join(json.dumps(video) + "\n" for video in videos))
    first, second = map(json.loads, without(path, [1]).decode().splitlines())
    assert (first, second) == ({**videos[0], "qa": videos[0]["qa"][:1]}, videos[1])
    assert without(path, [0, 1]).decode() == json.dumps(videos[1]) + "\n"
    sides = {"basic": {"question": "Is it red?", "answer": "yes"}, "other": {"question": "Is it blue?", "answer": "no"}}
    path = written(tmp_path / "b.json", json.dumps([{"video": f"v{n}", **sides} for n in range(2)]))
    records = [texts[0] for texts in read_texts(Source(path))]
    assert units_of(path, records) == [(0,), (0,), (1,), (1,)]


def test_parquet_keeps_types_and_metadata(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({name: [row[name] for row in ROWS] for name in ROWS[0]}).replace_schema_metadata({"a": "b"})
    parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(without(tmp_path / "a.parquet", [2]))
    left = parquet.read_table(tmp_path / "b.parquet")
    assert left.schema.equals(table.schema, check_metadata=True)
    assert left.column("qid").to_pylist() == ["q0", "q1", "q3"]
