"""Every file that an audit reads, an import reads with the same records; else one line says what is missing."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from evaluation.audit.audit import Options, audit, sources_of
from evaluation.audit.file_reader import Problems, read_all
from evaluation.audit.ladder import by_id, read_rung
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import csv_rows, jsonl, table
from foilworks.core.corpus.import_formats.parsing.column_roles import guess
from foilworks.core.corpus.import_formats.parsing.table_sample import sample_of
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.corpus.records import BadRecord, ItemRecord, TextRecord
from tests.corpus.test_column_roles import STYLES, table_of

ONLY_SURE = [style for style in STYLES["styles"] if "asks" not in style]
FLAT = [style for style in ONLY_SURE if style["style"] != "nested"]
ENDINGS = {".csv": ",", ".tsv": "\t"}


def write(path: Path, rows: list[dict[str, Any]], delimiter: str) -> Path:
    if path.suffix in ENDINGS:
        names = list(rows[0])
        cells = [[json.dumps(row[n]) if isinstance(row[n], list) else str(row[n]) for n in names] for row in rows]
        quoted = ['"' + cell.replace('"', '""') + '"' for line in [names, *cells] for cell in line]
        lines = [quoted[start : start + len(names)] for start in range(0, len(quoted), len(names))]
        path.write_text("".join(delimiter.join(line) + "\n" for line in lines), encoding="utf-8-sig")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_text(json.dumps(rows))
    return path


def audited(path: Path) -> list[tuple[Any, ...]]:
    problems = Problems()
    records = list(read_all(sources_of(Source(path)), problems))
    assert problems.n == 0
    return [seen(record) for record in records]


def seen(record: TextRecord) -> tuple[Any, ...]:
    return (record.right, record.wrongs, record.question, record.video or record.id)


def imported(path: Path, read: Any = table.read) -> list[tuple[Any, ...]]:
    outcomes = list(read(path, params={}))
    assert not [outcome for outcome in outcomes if isinstance(outcome, BadRecord)]
    return [texts_of(outcome) for outcome in outcomes if isinstance(outcome, ItemRecord)]


def texts_of(item: ItemRecord) -> tuple[Any, ...]:
    clip = item.video.source_id or item.video.file
    if "options" not in item.facts:
        return item.caption, item.foils, "", clip
    options, position = item.facts["options"], item.facts["answer"]
    wrongs = tuple(text for index, text in enumerate(options) if index != position)
    return options[position], wrongs, item.facts["question"], clip


@pytest.mark.parametrize("style", ONLY_SURE, ids=lambda style: f"{style['style']}-{'-'.join(style['names'])}")
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json", ".parquet"])
def test_both_doors_read_each_header_style_alike(tmp_path, style, ending):
    if ending == ".csv" and style["style"] == "nested":
        ending = ".json"
    rows, _roles = table_of(style)
    path = write(tmp_path / f"own{ending}", rows, ",")
    records = audited(path)
    assert len(records) == len(rows)
    assert imported(path) == records
    if ending in {".csv", ".jsonl"}:
        assert imported(path, csv_rows.read if ending == ".csv" else jsonl.read) == records


WORDS = st.sampled_from(["man", "dog", "door", "opens", "closes", "runs", "sits", "left", "right", "falls"])


def rows_strategy(style: dict[str, Any]) -> Any:
    """Return rows of other sentences in the columns of a style."""
    template, roles = table_of(style)
    [caption], foils = roles["caption"], roles["foils"]

    def row(index: int, words: list[str], others: list[str]) -> dict[str, Any]:
        lasts = [other if other != words[-1] else "sleeps" for other in others]
        texts = {name: f"A {' '.join([*words[:-1], last])}." for name, last in zip(foils, lasts, strict=False)}
        return {**template[index % len(template)], caption: f"A {' '.join(words)}.", **texts}

    parts = st.tuples(st.lists(WORDS, min_size=5, max_size=8), st.lists(WORDS, min_size=2, max_size=2))
    return st.lists(parts, min_size=3, max_size=8).map(
        lambda all_parts: [row(k, *two) for k, two in enumerate(all_parts)]
    )


PAIRS = [style for style in FLAT if style["kind"] in {"pairs", "two foils", "timed"}]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_both_doors_read_any_sentences_alike(tmp_path, data):
    style = data.draw(st.sampled_from(PAIRS))
    rows = data.draw(rows_strategy(style))
    name, delimiter = data.draw(
        st.sampled_from([("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t"), ("d.jsonl", ""), ("e.json", "")])
    )
    path = write(tmp_path / name, rows, delimiter)
    records, items = audited(path), imported_without_repeats(path)
    assert items == list(dict.fromkeys(records))


def imported_without_repeats(path: Path) -> list[tuple[Any, ...]]:
    """Return the imported records; an equal record is refused, because items have ids of their own."""
    return [texts_of(outcome) for outcome in table.read(path, params={}) if isinstance(outcome, ItemRecord)]


PUBLISHED_FORMS: dict[str, Any] = {
    "yes-no.json": [
        {"question": f"Is cup {n} red?", "answer": "yes" if n % 2 else "no", "video": f"v{n}"} for n in range(4)
    ],
    "labels.jsonl": [{"caption": f"Cup {n} is red.", "label": n % 2, "image": f"{n}.jpg"} for n in range(4)],
    "by-video.json": {"v1": {"order": [{"question": "What\nA. it falls\nB. it flies", "answer": "B"}]}},
    "by-id.json": {"7": {"video": "a.mp4", "caption": "It falls.", "foil": "It flies."}},
    "columns.json": {
        "video": ["a.mp4", "b.mp4"],
        "caption": ["It falls.", "He sits."],
        "foil": ["It flies.", "He runs."],
    },
    "pictures.json": [
        {"id": 3, "image_0": "a.jpg", "image_1": "b.jpg", "caption_0": "Red on blue.", "caption_1": "Blue on red."}
    ],
    "letters.jsonl": [{"video": "v", "question": "Where?", "options": ["(A) left", "(B) right"], "answer": "(B)"}],
    "no-clip.jsonl": [{"caption": f"Cup {n} falls.", "foil": f"Cup {n} flies."} for n in range(3)],
}


@pytest.mark.parametrize("name", PUBLISHED_FORMS)
def test_both_doors_read_the_forms_of_published_files_alike(tmp_path, name):
    value = PUBLISHED_FORMS[name]
    text = "\n".join(map(json.dumps, value)) if name.endswith(".jsonl") else json.dumps(value)
    (path := tmp_path / name).write_text(text)
    records, items = audited(path), imported(path)
    assert [record[:3] for record in records] == [item[:3] for item in items]
    assert [item[3] for record, item in zip(records, items, strict=True) if record[3]] == [
        r[3] for r in records if r[3]
    ]


def test_a_folder_is_read_alike_and_one_odd_file_does_not_refuse_the_others(tmp_path):
    for name in ("order", "speed"):
        rows = [{"video": "v1.mp4", "question": "What?", "candidates": ["a", "b"], "answer": "b"}]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    (tmp_path / "speed.json").write_text("[{")
    problems = Problems()
    assert [record.subtest for record in read_all(sources_of(Source(tmp_path)), problems)] == ["order"]
    outcomes = list(table.read(tmp_path, params={}))
    assert [item.subtest for item in outcomes if isinstance(item, ItemRecord)] == ["order"]
    [left_out] = [outcome for outcome in outcomes if isinstance(outcome, BadRecord)]
    assert left_out.fix == "this file is left out"
    assert len(problems.files) == 1


QUESTIONS = [
    {
        "video_id": "v1",
        "question_id": f"q-{n}",
        "question": "What?",
        "options": ["A. it falls", "B. it flies"],
        "answer": a,
    }
    for n, a in enumerate("ABAB")
]
ANSWERS = ["A", "B.", "B. it flies", "b"]


def lmms_eval(path: Path) -> Path:
    rows = [
        {"doc_id": n, "target": doc["answer"], "resps": [[answer]], "filtered_resps": [answer], "doc": doc}
        for n, (doc, answer) in enumerate(zip(QUESTIONS, ANSWERS, strict=True))
    ]
    path.with_suffix(".jsonl").write_text("\n".join(map(json.dumps, rows)))
    return path.with_suffix(".jsonl")


def vlmevalkit(path: Path) -> Path:
    lines = [
        f"{n}\tv1\t{doc['answer']}\t{answer}" for n, (doc, answer) in enumerate(zip(QUESTIONS, ANSWERS, strict=True))
    ]
    path.with_suffix(".tsv").write_text("\n".join(["index\tvideo\tanswer\tprediction", *lines]))
    return path.with_suffix(".tsv")


@pytest.mark.parametrize("write_log", [lmms_eval, vlmevalkit])
def test_logs_of_harnesses_are_predictions_of_a_published_file(tmp_path, write_log):
    """Three of four are right. The right answers beside the predictions are not needed."""
    (path := tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    items = by_id(read_all([Source(path)], Problems()))
    answers = read_rung(write_log(tmp_path / "log"), items, {})
    assert answers.credits == {"q-0": 1.0, "q-1": 1.0, "q-2": 0.0, "q-3": 1.0}


def test_captions_without_false_texts_have_nothing_to_compare(tmp_path):
    (path := tmp_path / "captions.csv").write_text("clip,sentence\na.mp4,A man sits down.\nb.mp4,Two dogs run away.\n")
    with pytest.raises(CorpusError, match="so there is nothing to compare") as error:
        audit(sources_of(Source(path)), Options())
    assert "\n" not in str(error.value)
    assert [item.caption for item in table.read(path, params={}) if isinstance(item, ItemRecord)] == [
        "A man sits down.",
        "Two dogs run away.",
    ]


@pytest.mark.parametrize("style", ONLY_SURE, ids=lambda style: f"{style['style']}-{'-'.join(style['names'])}")
def test_the_page_fills_in_what_the_command_reads(tmp_path, style):
    rows, _roles = table_of(style)
    path = write(tmp_path / "own.json", rows, "")
    document = guess(sample_of(path)["rows"])
    assert imported(path, lambda path, params: table.read(path, params={"mapping": document})) == imported(path)
