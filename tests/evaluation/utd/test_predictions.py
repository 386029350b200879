"""`foilworks utd split`: a file of predictions in, splits out."""

import json

import pytest
from django.core.management import call_command

from evaluation.utd.predictions import read_model_answers

HEADER = f"sample,class,{','.join(f'correct_{n}' for n in range(1, 10))},confidence"


@pytest.fixture
def run(capsys, tmp_path):
    def runner(*lines, header=HEADER):
        path = tmp_path / "p.csv"
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        status = 0
        try:
            call_command("utd", "split", "--predictions", str(path), "--json")
        except SystemExit as left:
            status = int(left.code)
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else None, err.replace(str(path), "FILE").strip()

    return runner


def line(sample, label, right, confidence):
    return ",".join([sample, label, *["1" if place < right else "0" for place in range(9)], str(confidence)])


def test_the_split_and_the_balanced_one_are_computed_with_kappa(run):
    status, got, _ = run(
        line("a", "run", 9, 0.9), line("b", "run", 9, 0.8), line("c", "sit", 8, 0.7), line("d", "sit", 0, 0.1)
    )
    assert status == 0
    assert (got["n"], got["n_biased"], got["removed"]) == (4, 2, ["a", "b"])
    # One of each class: the most confident of "run", and of "sit", where none is biased.
    assert got["removed_balanced"] == ["a", "c"]
    # P = (1 + 1 + (8*7)/(9*8) + 1) / 4 = .94444; p = 26/36; P_e = p^2 + (1-p)^2 = .59877.
    assert got["kappa"] == pytest.approx((0.9444444444 - 0.5987654321) / (1 - 0.5987654321))


def test_retrieval_has_no_balanced_split(run):
    header = HEADER.replace("class,", "").replace(",confidence", "")
    status, got, _ = run("a,1,1,1,1,1,1,1,1,1", "b,1,0,1,1,1,1,1,1,1", header=header)
    assert (status, got["removed"], got["removed_balanced"]) == (0, ["a"], None)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([line("a", "x", 9, 1), line("a", "x", 9, 1)], "FILE:3: sample: 'a' occurs twice in the file"),
        ([line("a", "x", 9, "nan")], "FILE:2: confidence: is nan; give a finite number"),
        ([line("a", "x", 9, 1).replace(",0", ",2").replace("x,1", "x,2", 1)], "FILE:2: correct_1: is '2'; give 0 or 1"),
        ([line("a", "x", 9, 1), line("b", "", 9, 1)], "FILE: class: is missing for some samples"),
        ([], "FILE: record: there is none; give at least one sample"),
    ],
)
def test_an_error_is_one_line(run, lines, message):
    status, got, err = run(*lines)
    assert (status, got) == (1, None)
    assert err.startswith(f"foilworks: {message}")


def test_a_missing_column_is_named(run):
    _, _, err = run("a,x", header="sample,class")
    assert err.startswith("foilworks: FILE:1: correct_1: there is no such column (its columns: sample, class)")


@pytest.mark.parametrize(
    ("header", "row"),
    [("video_id,acc_top1,acc_top5,target,logits", 'a,1,1,7,"[0.1, 0.2]"'), ("rank,R1,R5,video_id", "0.0,1.0,1.0,a")],
)
def test_answers_in_the_authors_columns_are_read(tmp_path, header, row):
    path = tmp_path / "valid_49ep.csv"
    path.write_text(f"{header}\n{row}\n")
    assert read_model_answers(path)[0] == {"valid_49ep": {"a": 1.0}}
