"""`foilworks balance` on files, and the blind audit of what it keeps."""

import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.score_files.items import read_items


@pytest.fixture
def run(capsys):
    def call(*words):
        call_command(*map(str, words), "--json")
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def items(tmp_path):
    """30 times on -> in and 22 times in -> on in one subtest; in the other nothing stands on both sides."""
    rows = [("relations", f"t{n} sits on it", f"t{n} sits in it") for n in range(30)]
    rows += [("relations", f"u{n} sits in it", f"u{n} sits on it") for n in range(22)]
    rows += [("verbs", f"v{n} folds it", f"v{n} tears it") for n in range(25)]
    path = tmp_path / "items.jsonl"
    lines = [{"subtest": subtest, "caption": caption, "foils": [foil]} for subtest, caption, foil in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_balanced_items_are_written_and_no_word_classifier_solves_them(run, items, tmp_path):
    kept = tmp_path / "kept.jsonl"
    relations, verbs = run("balance", "--file", items, "--out", kept)["subtests"]
    assert (relations["n_kept"], relations["share"], relations["feasible"]) == (44, 44 / 52, True)
    assert (verbs["n_kept"], verbs["feasible"]) == (0, False)
    assert "0 of 25 can be balanced" in verbs["reason"]
    (row,) = run("report", "blind", "--file", kept)["subtests"]
    assert (row["n_items"], row["fitted_accuracy"], row["words"]) == (44, 0.5, [])
    before = run("report", "blind", "--file", items)["subtests"][0]
    assert before["fitted_accuracy"] > 0.55


@pytest.fixture
def leaking(tmp_path):
    """Words are balanced, but each caption ends with a full stop; one item must leave."""
    rows = [(f"t{n} sits {a} it.", f"t{n} sits {b} it") for n in range(30) for a, b in (("on", "in"), ("in", "on"))]
    rows.append(("w sits on it.", "w sits at it"))
    path = tmp_path / "leaking.jsonl"
    lines = [{"caption": caption, "foils": [foil], "video": f"v{n}.mp4"} for n, (caption, foil) in enumerate(rows)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


SOLVER = ("solver_accuracy", "ci", "verdict")


def test_the_outcome_states_what_the_blind_report_and_the_audit_find(run, leaking, tmp_path):
    kept = tmp_path / "kept.jsonl"
    result = run("balance", "--file", leaking, "--out", kept)
    (row,) = result["subtests"]
    assert (row["n_kept"], row["after"]["fitted"], row["is_balanced"], row["is_still_solved"]) == (60, 0.5, True, True)
    for path, accuracy in ((leaking, "before"), (kept, "after")):
        report = run("report", "blind", "--file", path)["overall"]
        audit = run("audit", path)["without_video"]
        values = [row[accuracy][name] for name in SOLVER]
        assert values == [report[name] for name in SOLVER] == [audit[name] for name in ("value", "interval", "verdict")]
        assert values == [result["overall"][accuracy][name] for name in SOLVER]


def test_the_table_says_that_balanced_pairs_are_still_answered(capsys, leaking):
    call_command("balance", "--file", str(leaking))
    *_, last = capsys.readouterr().out.strip().splitlines()
    assert last == ("leaking: balanced in words; at least 100.0 % of the pairs are still answered without the video")


def test_each_subtest_has_its_row_of_one_solution(run, items):
    result = run("balance", "--file", items)
    relations, verbs = result["subtests"]
    report = run("report", "blind", "--file", items)
    for row, reported in zip((relations, verbs), report["subtests"], strict=True):
        assert [row["before"][name] for name in SOLVER] == [reported[name] for name in SOLVER]
    assert (relations["after"]["verdict"], relations["is_still_solved"]) == ("cannot_tell", False)
    assert (verbs["before"]["verdict"], verbs["after"]["verdict"]) == ("fail", None)
    assert verbs["after"]["reason"] == "too few videos to learn from"


def test_an_item_of_two_foils_is_balanced_as_a_whole_by_default(run, tmp_path):
    path = tmp_path / "two.jsonl"
    lines = [{"caption": "x on it", "foils": ["x in it", "x at it"]}, {"caption": "y in it", "foils": ["y on it"]}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("balance", "--file", path)["subtests"][0]["n_kept"] == 0
    out = tmp_path / "kept.jsonl"
    assert run("balance", "--file", path, "--foils", "each", "--out", out)["subtests"][0]["n_kept"] == 2
    assert [json.loads(line)["foils"] for line in out.read_text().splitlines()] == [["x in it"], ["y on it"]]


def test_every_field_of_the_input_is_written(run, tmp_path):
    path, kept = tmp_path / "fields.jsonl", tmp_path / "kept.jsonl"
    votes = {"caption": 2, "foil": 1, "other": 0}
    lines = [
        {"video": "a.mp4", "question": "Where?", "caption": "x on it", "foil": "x in it", "votes": votes},
        {"key": [1, {"b": None}], "id": "b", "caption": "y in it", "foils": ["y on it", "y at it"]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("balance", "--file", path, "--foils", "each", "--out", kept)
    first, second = map(json.loads, kept.read_text().splitlines())
    named = {"subtest": "fields", "test": "fields"}
    assert first == {**lines[0], "id": "1", **named}
    assert second == {**lines[1], "foils": ["y on it"], **named}
    # Nothing leaves a balanced file.
    run("balance", "--file", kept, "--out", path)
    assert path.read_text() == kept.read_text()


def test_the_output_of_a_published_file_has_its_fields_video_and_votes(run, tmp_path):
    path, kept = tmp_path / "published.json", tmp_path / "kept.jsonl"
    record = {
        "dataset": "kinetics",
        "youtube_id": "abc",
        "start_time": 1,
        "end_time": 4,
        "time_unit": "sec",
        "class": "on",
        "mturk": {"caption": 3, "foil": 0, "other": 0},
        "proficiency": {"caption": "a box", "foils": ["a dog"]},
    }
    rows = [("x on it", "x in it"), ("y in it", "y on it")]
    path.write_text(json.dumps({str(n): {**record, "caption": a, "foils": [b]} for n, (a, b) in enumerate(rows)}))
    run("balance", "--file", path, "--out", kept)
    first, _second = map(json.loads, kept.read_text().splitlines())
    assert (first["class"], first["youtube_id"], first["votes"]) == ("on", "abc", record["mturk"])
    (read, _other), _warnings = read_items([kept])
    (published, _other), _warnings = read_items([path])
    assert (read.caption, read.foils, read.video) == (published.caption, published.foils, published.video)
    assert (read.valid, read.proficiency.foils) == (True, ("a dog",))


def test_frequency_matching_is_available(run, items):
    relations, verbs = run("balance", "--file", items, "--kind", "frequency")["subtests"]
    assert (relations["n_kept"], verbs["n_kept"]) == (44, 0)


def test_a_language_model_scores_files_as_well(run, items):
    found = run("report", "blind", "--file", items, "--scorer", "fake:text")["preferences"]["fake:text"]
    assert found["overall"]["n_pairs"] == 77
    assert found["overall"]["n_missing"] == 0
    with pytest.raises(CommandError, match="needs the blind report"):
        call_command("report", "divergence", "--file", str(items), "--scorer", "fake:text")
