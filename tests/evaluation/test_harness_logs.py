"""Logs of lmms-eval 0.7.3 and Inspect 0.3.285, written by them for four items of the sample project."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from evaluation.errors import EvaluationError
from evaluation.score_files.harness_logs import is_harness_log
from evaluation.score_files.score_readers import AUTO, read_given
from evaluation.score_files.scores import Notes

LOGS = Path(__file__).with_name("harness_logs")
CHOICE, LIKELIHOOD = LOGS / "lmms_samples_choice.jsonl", LOGS / "lmms_samples_likelihood.jsonl"
INSPECT = LOGS / "inspect_four_items.eval"
NAMES = [f"direction:direction-scene-000{at}-{way}" for at in (1, 2) for way in ("forward", "reverse")]
RECORDS = [{"id": name, "subtest": "direction", "foils": ["a foil"]} for name in NAMES]


def read(path, records=RECORDS):
    notes = Notes()
    return read_given(path, AUTO, records, notes=notes), notes


def test_answers_by_letter_say_which_text_won():
    data, notes = read(CHOICE)
    assert list(data.ids) == NAMES
    assert data.main.tolist() == [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    assert notes.only_winners
    assert notes.harness["harness"] == "lmms-eval"
    assert notes.harness["prompt"].startswith("Which sentence is true of the video?\nA. a white circle moves")


def test_losses_become_scores_with_the_caption_first():
    data, notes = read(LIKELIHOOD)
    assert data.main.tolist() == [
        [-1.36, -1.6800000000000002],
        [-2.1, -3.44],
        [-5.06, -4.239999999999999],
        [-4.9399999999999995, -1.76],
    ]
    assert not notes.only_winners


def test_a_log_of_inspect_is_read_without_inspect():
    data, notes = read(INSPECT)
    won = dict(zip(data.ids, data.main[:, 0].tolist(), strict=True))
    assert won == {NAMES[0]: 1.0, NAMES[1]: 0.0, NAMES[3]: 1.0}
    assert list(notes.unreadable) == [NAMES[2]]
    assert notes.harness["version"] == "0.3.285"
    assert notes.harness["model"] == "mockllm/model"
    assert "Which sentence is true of the video?" in notes.harness["prompt"]


def test_the_version_is_read_from_the_results_beside_the_samples(tmp_path):
    path = tmp_path / "run_samples_direction_choice.jsonl"
    shutil.copy(CHOICE, path)
    about = {"lmms_eval_version": "0.7.3", "config": {"model": "llava", "model_args": "pretrained=llava"}}
    (tmp_path / "run_results.json").write_text(json.dumps(about))
    notes = read(path)[1]
    assert (notes.harness["version"], notes.harness["model"]) == ("0.7.3", "pretrained=llava")


def test_other_score_files_are_not_logs(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text('{"id": "1", "caption": 1.0, "foils": [0.5]}\n')
    assert not is_harness_log(path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"doc_id": 0, "filtered_resps": "A", "target": "A"}', "the record names no item"),
        ('{"doc_id": 0, "filtered_resps": ["a", "b"], "target": "0", "item": "i"}', "are not likelihoods"),
        (
            '{"doc_id": 0, "filtered_resps": ["(1, False)", "(2, False)"], "target": "5", "item": "i"}',
            "not likelihoods",
        ),
    ],
)
def test_a_log_of_another_task_names_its_line(tmp_path, line, problem):
    path = tmp_path / "samples.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(EvaluationError, match=problem) as found:
        read(path)
    assert str(found.value).startswith(f"{path}:1: ")


def test_two_answers_for_one_item_are_refused(tmp_path):
    path = tmp_path / "samples.jsonl"
    first = CHOICE.read_text().splitlines()[0]
    path.write_text(f"{first}\n{first}\n")
    with pytest.raises(EvaluationError, match="occurs twice; give the log of one task with one answer an item"):
        read(path)


def test_a_log_of_an_unfinished_run_is_refused(tmp_path):
    path = tmp_path / "log.eval"
    sample = {"id": NAMES[0], "scores": {"choice": {"value": "C", "answer": "A"}}, "messages": []}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "error", "eval": {"model": "m"}}))
        archive.writestr("samples/1.json", json.dumps(sample))
    with pytest.raises(EvaluationError, match=r"the run did not finish \(status error\)"):
        read(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half", b"no archive at all"])
def test_a_broken_log_is_refused(tmp_path, content):
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    with pytest.raises(EvaluationError, match="is not a complete Inspect log"):
        read(path)


def test_predictions_of_vlmevalkit_are_read_by_the_options_of_their_row(tmp_path):
    path = tmp_path / "predictions.tsv"
    rows = [("B", "A closes.", "A opens."), ("A. it", "A closes.", "A opens."), ("who knows", "A opens.", "A closes.")]
    lines = ["index\tid\tquestion\tA\tB\tanswer\tprediction"]
    lines += [
        f"{at}\t{NAMES[at]}\tq\t{first}\t{second}\t{'A' if first == 'A opens.' else 'B'}\t{said}"
        for at, (said, first, second) in enumerate(rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    data, notes = read(path)
    assert data.main.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert notes.unreadable == {NAMES[2]: "no option"}
    assert notes.harness == {"harness": "VLMEvalKit"}
