"""Logs of lmms-eval 0.7.3 and Inspect 0.3.285, written by them for four items of the sample project.

The samples of Every Eval Ever are the Inspect log, converted by `every_eval_ever convert inspect` 0.3.0.
"""

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
AGGREGATE = LOGS / "60c78608-b5b6-452c-8bc3-1a3a785f4db6.json"
SAMPLES = LOGS / "60c78608-b5b6-452c-8bc3-1a3a785f4db6_samples.jsonl"
NAMES = [f"direction:direction-scene-000{at}-{way}" for at in (1, 2) for way in ("forward", "reverse")]
RECORDS = [{"id": name, "subtest": "direction", "foils": ["a foil"]} for name in NAMES]


def read(path, records=RECORDS, form=AUTO):
    notes = Notes()
    return read_given(path, form, records, notes=notes), notes


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
    with pytest.raises(EvaluationError, match="is no log of a harness"):
        read(path, form="harness")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"doc_id": 0, "filtered_resps": "A", "target": "A"}', "is no option of the question.s 0"),
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
    for form in (AUTO, "harness"):
        data, notes = read(path, form=form)
        assert data.main.tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert notes.unreadable == {NAMES[2]: "no option"}
        assert notes.harness == {"harness": "VLMEvalKit", "prompt": "q"}


@pytest.mark.parametrize("path", [SAMPLES, AGGREGATE])
def test_samples_of_every_eval_ever_are_read_as_the_log_that_they_come_from(path):
    data, notes = read(path)
    log, notes_of_log = read(INSPECT)
    assert list(data.ids) == list(log.ids)
    assert data.main.tolist() == log.main.tolist()
    assert notes.unreadable == notes_of_log.unreadable
    assert (notes.harness["harness"], notes.harness["version"]) == ("inspect", "inspect_ai:0.3.285")
    assert notes.harness["model"] == "openai/openai/lab-model"


def samples(path, **changes):
    """The samples with some fields replaced, alone in a folder."""
    rows = [{**json.loads(line), **changes} for line in SAMPLES.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def test_without_choices_the_result_of_the_log_counts(tmp_path):
    path = tmp_path / "a_samples.jsonl"
    samples(path, input={"raw": "What is it?", "reference": "a circle"}, evaluation={"score": 1, "is_correct": True})
    data, notes = read(path)
    assert data.main.tolist() == [[1.0, 0.0]] * 4
    assert notes.harness["harness"] == "Every Eval Ever"
    assert notes.only_winners
    samples(path, input={"raw": "What is it?", "reference": []}, evaluation={"score": 0.7, "is_correct": False})
    with pytest.raises(EvaluationError, match=r"is 0\.7, and the sample has no choices"):
        read(path)


def test_the_last_message_of_several_turns_is_the_answer(tmp_path):
    path = tmp_path / "a_samples.jsonl"
    turns = [("user", "Which?"), ("assistant", "B"), ("user", "Sure?"), ("assistant", "It is A."), ("tool", None)]
    messages = [{"turn_idx": n, "role": role, "content": text} for n, (role, text) in enumerate(turns)]
    samples(path, interaction_type="multi_turn", output=None, messages=messages)
    assert read(path)[0].main[:, 0].tolist() == [1.0, 1.0, 0.0, 1.0]


def test_a_sample_may_count_for_several_results_but_has_one_answer(tmp_path):
    path = tmp_path / "a_samples.jsonl"
    rows = samples(path)
    lines = [*rows, *({**row, "evaluation_result_id": "choice:other"} for row in rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    assert read(path)[0].main[:, 0].tolist() == [1.0, 0.0, 1.0]
    lines[-1]["output"] = {"raw": ["B"]}
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    with pytest.raises(EvaluationError, match="the answer or result of"):
        read(path)
    samples(path, output={"raw": ["A", "B"]})
    with pytest.raises(EvaluationError, match="2 different responses"):
        read(path)


def test_scores_of_choices_are_scores(tmp_path):
    path = tmp_path / "a_samples.jsonl"
    samples(path, metadata={"scores": "[0.25, 0.75]"})
    data, notes = read(path)
    assert data.main.tolist() == [[0.25, 0.75], [0.25, 0.75], [0.75, 0.25], [0.25, 0.75]]
    assert not notes.only_winners
    samples(path, metadata={"scores": "[0.25, NaN]"})
    assert read(path)[1].only_winners


def test_an_aggregate_without_its_samples_says_which_file_to_give(tmp_path):
    path = tmp_path / AGGREGATE.name
    shutil.copy(AGGREGATE, path)
    with pytest.raises(EvaluationError, match=f"its samples '{SAMPLES.name}' are not in its folder"):
        read(path)
    path.write_text(json.dumps({**json.loads(AGGREGATE.read_text()), "detailed_evaluation_results": None}))
    with pytest.raises(EvaluationError, match="names no samples"):
        read(path)
