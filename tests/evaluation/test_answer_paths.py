"""An answer of a model has one reading, whichever way it comes in."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evaluation.audit.ladder import read_rung
from evaluation.score_files.score_readers import AUTO, LETTERS, read_given
from evaluation.score_files.scores import Notes
from foilworks.core.corpus.export_formats import lmms_eval
from foilworks.core.corpus.records import ItemRecord, TextRecord, VideoRecord
from foilworks.core.hub.served.readings import by_words
from foilworks.core.text.model_answers import LETTERS as NAMES
from foilworks.core.text.model_answers import read_answer
from tests.corpus.releases import release_of

ROWS = [
    row
    for line in Path(__file__).parent.with_name("text").joinpath("model_answers.jsonl").read_text("utf-8").splitlines()
    if isinstance((row := json.loads(line))["options"], list)
    # A number alone is the place of an option in a file of answers.
    and not row["text"].strip().isdecimal()
]
WHOLE = [row for row in ROWS if not row.get("finish_reason")]
READ = """
import json, sys
import utils
rows = json.load(sys.stdin)
answered = [utils.chosen({"options": row["options"], "answer": "A", "id": ""}, [row["text"]]) for row in rows]
print(json.dumps([[one["accuracy"] == 1.0, one["unreadable"] == 1.0] for one in answered]))
"""


def expected(rows):
    answers = [read_answer(row["text"], row["options"], finish_reason=row.get("finish_reason", "")) for row in rows]
    return [(answer.option == 0, answer.option is None) for answer in answers]


def records_of(rows):
    return [
        {
            "id": f"s:{number}",
            "subtest": "s",
            "foils": row["options"][1:],
            "foil_positions": list(range(len(row["options"]) - 1)),
            "facts": {"options": row["options"], "answer": 0},
        }
        for number, row in enumerate(rows)
    ]


def of_file(path, form, rows):
    notes = Notes()
    data = read_given(path, form, records_of(rows), notes=notes)
    credit = dict(zip(data.ids, data.main[:, 0].tolist(), strict=True))
    names = [f"s:{number}" for number in range(len(rows))]
    return [(credit.get(name) == 1.0, name in notes.unreadable) for name in names]


def through_endpoint(tmp_path):
    rows = ROWS
    readings = [
        by_words(row["text"], tuple(NAMES[: len(row["options"])]), row["options"], row.get("finish_reason", ""))
        for row in rows
    ]
    return rows, [(reading.answer == "A", not reading.answer) for reading in readings]


def through_file_of_answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [
        json.dumps({"id": f"s:{n}", "prediction": row["text"], "finish_reason": row.get("finish_reason", "")})
        for n, row in enumerate(ROWS)
    ]
    path.write_text("\n".join(lines))
    return ROWS, of_file(path, LETTERS, ROWS)


def through_log_of_lmms_eval(tmp_path):
    rows = [row for row in WHOLE if not any("\n" in option for option in row["options"])]
    path = tmp_path / "samples.jsonl"
    lines = []
    for number, row in enumerate(rows):
        shown = "\n".join(f"{letter}. {text}" for letter, text in zip(NAMES, row["options"], strict=False))
        sample = {"doc_id": number, "item": f"s:{number}", "input": f"Which?\n{shown}\nAnswer.", "target": "A"}
        lines.append(json.dumps({**sample, "filtered_resps": row["text"]}))
    path.write_text("\n".join(lines))
    return rows, of_file(path, AUTO, rows)


def through_log_of_inspect(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {"model": "m"}}))
        for number, row in enumerate(ROWS):
            output = {"completion": row["text"], "choices": [{"stop_reason": row.get("finish_reason", "stop")}]}
            sample = {"id": f"s:{number}", "choices": row["options"], "target": "A", "output": output}
            archive.writestr(f"samples/{number}.json", json.dumps({**sample, "scores": {"any": {}}, "messages": []}))
    return ROWS, of_file(path, AUTO, ROWS)


def through_exported_task(tmp_path):
    item = ItemRecord(
        id="s:1", subtest="s", video=VideoRecord("k", "a.mp4"), caption="A door opens.", foils=("A cup.",)
    )
    lmms_eval.write(release_of([item]), tmp_path / "out", params={})
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.')\n{READ}"]
    done = subprocess.run(
        command, cwd=tmp_path / "out", input=json.dumps(WHOLE), check=True, capture_output=True, text=True
    )
    return WHOLE, [tuple(answer) for answer in json.loads(done.stdout)]


def through_ladder_of_audit(tmp_path):
    items = {
        str(number): TextRecord(row["options"][0], tuple(row["options"][1:]), number, id=str(number), position=0)
        for number, row in enumerate(ROWS)
    }
    path = tmp_path / "predictions.jsonl"
    lines = [
        json.dumps({"id": str(n), "prediction": row["text"], "finish_reason": row.get("finish_reason", "")})
        for n, row in enumerate(ROWS)
    ]
    path.write_text("\n".join(lines))
    answers = read_rung(path, items, {})
    return ROWS, [(answers.credits.get(name) == 1.0, name in answers.unread) for name in items]


@pytest.mark.parametrize(
    "way",
    [
        through_endpoint,
        through_file_of_answers,
        through_log_of_lmms_eval,
        through_log_of_inspect,
        through_exported_task,
        through_ladder_of_audit,
    ],
)
def test_an_answer_is_read_alike_on_every_way(tmp_path, way):
    rows, readings = way(tmp_path)
    assert len(rows) > 150
    different = [
        (row["text"], reading, right)
        for row, reading, right in zip(rows, readings, expected(rows), strict=True)
        if tuple(reading) != right
    ]
    assert not different, "\n".join(map(str, different))
