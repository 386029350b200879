"""`foilworks audit`: a table for people, JSON for programs, a page for sharing; no database."""

import csv
import json
import random
import subprocess
import sys

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.test_audit import planted, written


@pytest.fixture
def benchmark(tmp_path):
    return written(tmp_path / "planted.jsonl", planted()).path


@pytest.fixture
def run(capsys):
    def call(*arguments):
        call_command("audit", *map(str, arguments), "--json")
        return json.loads(capsys.readouterr().out)

    return call


def test_people_get_a_table_with_each_check_and_subtest(benchmark, capsys):
    call_command("audit", str(benchmark))
    out = capsys.readouterr().out
    assert "240 items, 240 pairs" in out
    assert out.startswith("Fail: ")
    assert "verdict: fail" in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("frame", "order"))] == ["frame", "order"]


def test_json_has_the_documented_fields(run, benchmark):
    found = run(benchmark)
    assert found["schema"] == 2
    assert set(found) == {
        "schema",
        "files",
        "items",
        "pairs",
        "questions",
        "options",
        "hard_foils",
        "sample",
        "verdict",
        "records",
        "measures",
        "shortcuts",
        "without_video",
        "open_answers",
        "findings",
        "subtests",
        "item_scores",
    }
    fields = {"check", "verdict", "value", "interval", "chance", "n", "subtest", "details", "title", "means", "fix"}
    assert all(set(finding) == fields for finding in found["findings"])


def test_fail_on_sets_the_exit_status(benchmark, tmp_path, capsys):
    with pytest.raises(SystemExit) as failed:
        call_command("audit", str(benchmark), "--fail-on", "fail", "--html", str(tmp_path / "a.html"))
    assert failed.value.code == 1
    assert "unicorn" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_predictions_add_the_ladder(run, benchmark, tmp_path):
    full = written(tmp_path / "full.jsonl", [{"id": row["id"], "scores": [1, 0]} for row in planted()]).path
    blind = written(tmp_path / "blind.jsonl", [{"id": row["id"], "scores": [0, 0]} for row in planted()]).path
    found = run(benchmark, "--predictions", full, "--rung", f"no_clip={blind}")
    assert {name: row["T"] for name, row in found["ladder"]["rungs"].items()} == {"no_clip": 0.5, "full": 1.0}
    assert [row["details"]["rung"] for row in found["findings"] if row["check"] == "ladder"] == ["no_clip", "full"]
    measures = found["measures"]
    assert [measures[name]["value"] for name in ("blind_gap", "visual_gain")] == [0.0, 0.5]
    assert measures["bias_score"]["value"] == pytest.approx(np.mean([item["s"] for item in found["item_scores"]]))
    assert all(row["formula"] and row["source"] for row in measures.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.jsonl"], "there is no such file"),
        (["{file}", "--rung", "no_clip={file}"], "--predictions FILE"),
        (["{file}", "--html", "missing/a.html"], "choose another --html"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(arguments, said, benchmark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": row["id"], "scores": [1, 0]} for row in planted()]
    written(tmp_path / "rung.jsonl", rows)
    named = [part.format(file="rung.jsonl" if "=" in part else benchmark) for part in arguments]
    with pytest.raises(SystemExit) as failed:
        call_command("audit", *named)
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert failed.value.code == 1
    assert said in line


def test_an_unknown_role_is_wrong_usage(benchmark):
    with pytest.raises(CommandError, match="colour is not a role"):
        call_command("audit", str(benchmark), "--column", "colour=red")


def test_a_text_only_model_is_one_more_probe(run, benchmark):
    models = [row for row in run(benchmark, "--model", "fake:text")["findings"] if row["check"] == "model"]
    assert [row["subtest"] for row in models] == ["", "words", "frame", "order"]
    assert models[0]["details"]["probe"] == "fake:text"
    assert models[0]["chance"] == 0.5


def test_a_model_that_reads_videos_is_refused(benchmark, capsys):
    with pytest.raises(SystemExit):
        call_command("audit", str(benchmark), "--model", "fake:")
    assert "text-only model" in capsys.readouterr().err


def test_the_first_sentence_says_what_is_solved_without_the_video(run, benchmark, capsys):
    solved = run(benchmark)["without_video"]
    assert {"verdict", "value", "interval", "chance", "n", "unit", "tiers", "parts", "kinds", "families"} <= set(solved)
    assert (solved["unit"], solved["chance"], solved["n"]) == ("pairs", 0.5, 240)
    call_command("audit", str(benchmark))
    first = capsys.readouterr().out.splitlines()[0]
    share = f"{solved['value']:.1%}".replace("%", " %")
    assert first.startswith(f"Fail: {share} of the pairs are answered without the video (95 % interval ")
    assert first.endswith("chance is 50.0 %). Only words were compared: no language model said what is plausible.")


def test_the_sentence_counts_questions_as_questions(tmp_path, capsys):
    draw = random.Random(5)
    rows = [
        {"question": f"What is {n}?", "options": ["lift", "drop", "turn"], "answer": draw.randrange(3)}
        for n in range(300)
    ]
    call_command("audit", str(written(tmp_path / "q.jsonl", rows).path))
    assert "of the questions are answered without the video" in capsys.readouterr().out.splitlines()[0]


def test_a_text_only_model_changes_the_end_of_the_sentence(benchmark, capsys):
    call_command("audit", str(benchmark), "--model", "fake:text")
    assert capsys.readouterr().out.splitlines()[0].endswith("; plausibility tested with fake:text.")


@pytest.mark.full
def test_a_certificate_continues_from_its_file(run, tmp_path, capsys):
    draw = random.Random(2)
    rows = [
        {"id": f"{n}", "question": f"Q {n}?", "options": ["a", "b"], "answer": draw.randrange(2)} for n in range(60)
    ]
    path, state = written(tmp_path / "q.jsonl", rows).path, tmp_path / "state.json"
    found = run(path, "--certify", state)["without_video"]
    assert found["is_certified"]
    assert found["p_value"] > 0
    stored = state.read_text()
    assert run(path, "--certify", state)["without_video"] == found
    assert state.read_text() == stored
    with pytest.raises(SystemExit):
        run(path, "--certify", state, "--set", "seed=1")
    assert "the certificate cannot continue" in capsys.readouterr().err
    for content in ("[]", '{"fingerprint": "x"}', "{"):
        state.write_text(content)
        with pytest.raises(SystemExit):
            run(path, "--certify", state)
        assert "is no state of a certificate; choose another file" in capsys.readouterr().err
        assert state.read_text() == content, "a file that is not ours was overwritten"


def test_item_scores_are_written_as_csv(run, benchmark, tmp_path):
    path = tmp_path / "items.csv"
    scores = run(benchmark, "--items", path)["item_scores"]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [score["id"] for score in scores]
    assert [float(row["s"]) for row in rows] == [score["s"] for score in scores]


def test_skipped_records_are_named_by_file_and_counted_by_kind(tmp_path, capsys):
    rows = [{"caption": f"a cup {n}", "foil": f"a hat {n}"} for n in range(30)] + [{"x": n} for n in range(29)]
    rows += [{f"column {letter}": n} for letter in "abcdef" for n in range(2)]
    call_command("audit", str(written(tmp_path / "some.jsonl", rows).path), "--html", str(tmp_path / "a.html"))
    out, err = capsys.readouterr()
    assert err.splitlines()[0].startswith("warning: skipped: some.jsonl:31: record")
    assert err.splitlines()[0].endswith("(and 28 more like it)")
    assert err.splitlines()[5:] == ["warning: and 4 more records were skipped"]
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "and 28 more like it" in page
    assert "and 4 more" in page
    assert not any(str(tmp_path) in text for text in (out, err, page))


def test_counts_and_checks_that_did_not_run_are_said_in_words(tmp_path, capsys):
    rows = [{"caption": f"a cup {n}", "foils": [f"a hat {n}"] * 2, "video": f"v{n}"} for n in range(30)]
    call_command("audit", str(written(tmp_path / "twice.jsonl", rows).path))
    said = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line)
    assert said["Foils equal to captions"].endswith("in the same order. 30 items have the same foil twice.")
    assert said["Position of the answer"] == "Not run, because the file does not order the options."
    assert said["Licences"] == "0 of 30 items have a licence in the file."


def test_the_package_runs_as_a_module(benchmark):
    command = [sys.executable, "-m", "foilworks", "audit", str(benchmark), "--fail-on", "fail"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("Fail: ")
