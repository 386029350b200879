"""Logs of public tasks as the harnesses write them: lmms-eval 0.7.3 (Video-MME's task), Inspect 0.3.285, VLMEvalKit.

Six made-up questions in three videos. With the clip, four answers are right and one is unreadable; without, two are
right.
"""

import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command

import foilworks
from evaluation.errors import EvaluationError
from evaluation.score_files import harness_logs
from evaluation.score_files.score_readers import AUTO, read_given
from evaluation.score_files.scores import Notes
from evaluation.score_files.tables import Table
from foilworks.core.text.errors import ActionableError

LOGS = Path(__file__).with_name("harness_logs")
QUESTIONS = LOGS / "public_questions.json"
FORMS = ("lmms_public_{}.jsonl", "inspect_public_{}.eval", "vlmevalkit_public_{}.xlsx")


def as_json(tmp_path, path):
    """Return the log as Inspect writes it with `log_format="json"`: header and samples in one document."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("samples/")]
        head = json.loads(harness_logs._member(path, archive, "header.json"))
        head["samples"] = [json.loads(harness_logs._member(path, archive, name)) for name in names]
    copy = tmp_path / f"{path.stem}.json"
    copy.write_text(json.dumps(head))
    return copy


@pytest.mark.parametrize("form", [*FORMS, "json"])
def test_logs_of_any_harness_give_the_ladder_with_both_bounds(tmp_path, form):
    if form == "json":
        full, blind = (as_json(tmp_path, LOGS / FORMS[1].format(name)) for name in ("full", "blind"))
    else:
        full, blind = (LOGS / form.format(name) for name in ("full", "blind"))
    result = foilworks.ladder({"full": full, "no_clip": blind}, QUESTIONS, with_partly=True).document
    rows = {rung: (row["T"], row["all_wrong"], row["all_right"]) for rung, row in result["rungs"].items()}
    assert rows == {"no_clip": pytest.approx((0.4, 2 / 6, 2 / 6)), "full": pytest.approx((0.8, 4 / 6, 5 / 6))}
    assert (result["n"], result["n_bounded"], result["rungs"]["full"]["n_unread"]) == (5, 6, 1)
    assert result["rungs"]["no_clip"]["drop_bounds"] == pytest.approx([2 / 6, 3 / 6])


def test_the_command_prints_both_bounds(capsys):
    files = [LOGS / FORMS[0].format("full"), LOGS / FORMS[2].format("blind")]
    rungs = ["--predictions", str(files[0]), "--rung", f"no_clip={files[1]}"]
    call_command("audit", str(QUESTIONS), *rungs, "--set", "partly=1")
    line = (
        "Evidence ladder (full): 1 answer cannot be read and is left out; the value is 66.7 % if it is wrong, 83.3 % if"
    )
    assert line in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMS)
def test_logs_of_any_harness_are_scores_of_a_release_of_these_questions(form):
    questions = json.loads(QUESTIONS.read_text())
    records = [
        {
            "id": f"t:{row['question_id']}",
            "subtest": "t",
            "foils": ["", ""],
            "foil_positions": [0, 1],
            "facts": {
                "question": row["question"],
                "options": [option[3:] for option in row["options"]],
                "answer": "ABC".index(row["answer"]),
            },
        }
        for row in reversed(questions)
    ]
    notes = Notes()
    data = read_given(LOGS / form.format("full"), AUTO, records, notes=notes)
    assert sorted(data.ids) == [f"t:q-{number}" for number in range(1, 6)]
    assert dict(zip(data.ids, data.main[:, 0], strict=True)) == {f"t:q-{n}": float(n != 4) for n in range(1, 6)}
    assert list(notes.unreadable) == ["t:q-6"]


def ladder_of(path):
    return foilworks.ladder({"full": path}, QUESTIONS, with_partly=True).document


def test_without_ids_the_place_counts_if_the_question_and_the_right_answer_fit(tmp_path):
    path = tmp_path / "p.json"
    row = {"doc_id": 1, "question": "What happens first?", "target": "A", "prediction": "A"}
    path.write_text(json.dumps([row]))
    assert ladder_of(path)["rungs"]["full"]["T"] == 1.0
    path.write_text(json.dumps([{**row, "target": "C"}]))
    with pytest.raises(EvaluationError, match=r"the right answer is 'a dog runs in', but that of 'q-2' is 'the door"):
        ladder_of(path)


def test_a_place_that_does_not_fit_gives_way_to_the_text_of_the_question(tmp_path):
    rows = [json.loads(line) for line in (LOGS / "lmms_public_full.jsonl").read_text().splitlines()]
    path = tmp_path / "samples.jsonl"
    lines = [{**row, "doc_id": row["doc_id"] + 1, "videomme_perception_score": None} for row in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert ladder_of(path)["n"] == 5


def test_options_in_another_order_are_read_in_the_order_of_the_log(tmp_path):
    rows = [{"id": "q-1", "question": "", "A": "a green hat", "B": "a red cup", "C": "a blue bowl", "prediction": "C"}]
    path = tmp_path / "p.json"
    path.write_text(json.dumps(rows))
    assert ladder_of(path)["rungs"]["full"]["T"] == 1.0


@pytest.fixture
def pairs(tmp_path):
    """Return a file of one question about two clips, with the other answer on each, and a repeated question."""
    rows = [
        {"video": video, "question": "Which way?", "options": ["left", "right"], "answer": answer}
        for video, answer in (("a", "left"), ("b", "right"), ("c", "left"), ("c", "left"))
    ]
    path = tmp_path / "q.json"
    path.write_text(json.dumps(rows))
    return path


def test_the_video_tells_one_question_about_several_clips_apart(pairs):
    said = {"clips/b.mp4": "B", "c.mp4": "A", "a.mp4": "(A)"}
    rows = [{"video": video, "question": "Which way?\nA. left\nB. right", "prediction": said[video]} for video in said]
    rows.append({"video": "c.mp4", "question": "Which way?", "prediction": "right"})
    result = foilworks.ladder({"full": rows}, pairs).document
    assert (result["n"], result["rungs"]["full"]["T"]) == (4, 0.75)


@pytest.mark.parametrize(("video", "credit"), [("b.mp4", 0.0), ("unknown.mp4", 1.0), ("", 1.0)])
def test_a_place_of_another_video_of_the_benchmark_does_not_count(pairs, video, credit):
    rows = [{"doc_id": 0, "video": video, "question": "Which way?", "prediction": "A"}]
    assert foilworks.ladder({"full": rows}, pairs)["rungs"]["full"]["T"] == credit


def test_unreadable_answers_that_decide_a_drop_cannot_tell():
    rows = [
        {"id": str(n), "question": f"Where is object {n}?", "options": ["here", "there"], "answer": 0, "video": f"v{n}"}
        for n in range(200)
    ]

    def said(n_right, n_unread):
        texts = ["A"] * n_right + ["I cannot see it."] * n_unread + ["B"] * (200 - n_right - n_unread)
        return [{"id": str(n), "prediction": text} for n, text in enumerate(texts)]

    # 110 to 130 of 200 right with the clip; 110 without it: the clip adds nothing, or ten points.
    document = foilworks.audit(rows, rungs={"full": said(110, 20), "no_clip": said(110, 0)}).document
    (finding,) = [row for row in document["findings"] if (row["details"] or {}).get("rung") == "no_clip"]
    assert finding["verdict"] == "cannot_tell"
    assert finding["details"]["drop_bounds"] == [0.0, 0.1]
    assert document["ladder"]["parts"][-1]["say"] == "cannot_tell"
    # 170 right: the clip adds at least 30 points, whatever the others are.
    document = foilworks.audit(rows, rungs={"full": said(170, 20), "no_clip": said(110, 0)}).document
    assert document["ladder"]["parts"][-1]["say"] == "needs"


PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://'
    'schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="s" sheetId="1" r:id="r1"/>'
    "</sheets></workbook>",
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}
CELLS = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" '
    't="inlineStr"><is><t>id</t></is></c><c r="B1" t="inlineStr"><is><t>prediction</t></is></c></row>'
)


def sheet(tmp_path, cells, **more):
    path = tmp_path / "p.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**PARTS, "xl/worksheets/sheet1.xml": cells, **more}.items():
            archive.writestr(name, content)
    return path


def test_a_sheet_has_its_cells_at_their_columns(tmp_path):
    path = sheet(tmp_path, f'{CELLS}<row r="3"><c r="B3"><v>2</v></c></row></sheetData></worksheet>')
    (row,) = Table(path).rows()
    assert (row.line, row.fields["prediction"]) == (3, "2")


@pytest.mark.parametrize(
    ("cells", "more", "problem"),
    [
        (CELLS, {}, "is a spreadsheet that cannot be read; save the sheet as CSV"),
        (f"{CELLS}</sheetData></worksheet>", {"xl/media/a.bin": bytes(513 * 1024**2)}, "unpacks to more than 512 MiB"),
        ("", {}, "is a spreadsheet that cannot be read; save the sheet as CSV"),
    ],
)
def test_a_sheet_that_cannot_be_read_says_why(tmp_path, cells, more, problem):
    with pytest.raises(ActionableError, match=problem):
        Table(sheet(tmp_path, cells, **more))
