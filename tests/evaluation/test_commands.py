"""`foilworks metrics` and `foilworks report` on files: what scripts rely on (docs/reference/cli.md#metrics,
docs/reference/cli.md#report). None of it needs a database."""

import json

import numpy as np
import pytest
from django.core.management import call_command


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.jsonl"
    simpler = {"caption": 1, "foils": [0]}
    rows = [
        {"id": "a", "caption": 1.0, "foils": [0.5], "proficiency": simpler, "subtest": "s1", "test": "t"},
        {"id": "b", "caption": 0.1, "foils": [0.5], "proficiency": simpler, "subtest": "s2", "test": "t"},
        {"id": "c", "caption": 0.1, "foils": [0.0, 0.1], "subtest": "s2", "test": "t"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


class TestMetrics:
    def test_pairwise_keys(self, command, scores):
        status, got, _ = command("metrics", "pairwise", "--file", scores)
        assert status == 0
        assert {"T", "P", "P+T", "n", "ties", "chance", "T_ci", "T_all", "n_all"} <= got["overall"].keys()
        assert (got["overall"]["T"], got["overall"]["P"], got["overall"]["P+T"]) == (0.5, 1, 0.5)
        assert got["overall"]["T_all"] == pytest.approx((1 + 0 + 0.5) / 3)
        assert list(got["subtests"]) == ["s1", "s2"]
        assert got["tests"]["t"]["n"] == 2
        assert got["avg_P+T"] == 0.5

    def test_ties_are_as_named(self, command, scores):
        _, got, _ = command("metrics", "pairwise", "--file", scores, "--ties", "first")
        assert got["tie_policy"] == "first"
        assert got["overall"]["T_all"] == pytest.approx(2 / 3)

    def test_of_a_file_of_two_models_one_is_named(self, command, tmp_path):
        path = tmp_path / "scores.jsonl"
        rows = [
            {"id": name, "model": model, "model_key": f"{model}@1", "caption": caption, "foils": [0.5]}
            for model, caption in (("good", 1.0), ("bad", 0.0))
            for name in ("a", "b")
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        status, _, err = command("metrics", "pairwise", "--file", path)
        assert status == 1
        assert "scores.jsonl:3: id: 'a' has scores of the models 'good' (line 1) and 'bad'; name one of them" in err
        assert "scores/MODEL.jsonl" in err
        for name, expected in (("good", 1), ("bad", 0), ("bad@1", 0)):
            status, got, _ = command("metrics", "pairwise", "--file", path, "--model", name)
            assert (status, got["overall"]["T"], got["overall"]["n"]) == (0, expected, 2)
        status, _, err = command("metrics", "pairwise", "--file", path, "--model", "third")
        assert status == 1
        assert "its models: good, bad" in err

    def test_vilma_files_with_unmatched_ids(self, command, tmp_path):
        main, simpler = tmp_path / "m.json", tmp_path / "p.json"
        main.write_text(json.dumps({"1": {"scores": [2, 1]}, "2": {"scores": [1, 2]}}))
        simpler.write_text(json.dumps({"1": {"scores": [2, 1]}}))
        status, got, err = command("metrics", "pairwise", "--file", main, "--proficiency", simpler)
        assert (status, got["overall"]["n"], got["overall"]["n_all"]) == (0, 1, 2)
        assert got["unmatched"]["without_proficiency"] == ["2"]
        assert "1 without proficiency: 2" in err

    def test_rcad_mc_and_retrieval_keys(self, command, tmp_path):
        np.save(tmp_path / "c.npy", np.array([[3.0, 1, 2], [1, 2, 0]]))
        _, rcad, _ = command("metrics", "rcad", "--file", tmp_path / "c.npy")
        assert [rcad[key] for key in ("R@1", "R@2", "R@3", "mean_rank", "median_rank", "n")] == [0.5, 1, 1, 1.5, 1.5, 2]
        assert len(rcad["R@1_ci"]) == 2
        _, mc, _ = command("metrics", "mc", "--file", tmp_path / "c.npy")
        assert {"accuracy", "n", "ties", "ci"} <= mc.keys()
        np.save(tmp_path / "sim.npy", np.array([[0.9, 0.1], [0.8, 0.7]]))
        _, both, _ = command("metrics", "retrieval", "--file", tmp_path / "sim.npy")
        assert (both["t2v"]["R@1"], both["v2t"]["R@1"]) == (0.5, 1)

    def test_a_nan_is_one_line_on_stderr_and_exit_1(self, command, tmp_path):
        path = tmp_path / "x.jsonl"
        path.write_text('{"id": "a", "caption": 1, "foils": [0]}\n{"id": "b", "caption": NaN, "foils": [0]}\n')
        status, got, err = command("metrics", "pairwise", "--file", path)
        assert (status, got) == (1, None)
        assert err == f"foilworks: {path}:2: caption: is nan; give a finite number\n"

    def test_people_get_a_table(self, scores, capsys):
        call_command("metrics", "pairwise", "--file", str(scores))
        out = capsys.readouterr().out
        assert "subtest s1" in out
        assert "mean P+T over tests" in out


class TestReport:
    def test_validation_keys_and_warnings(self, command, tmp_path):
        path = tmp_path / "x.jsonl"
        path.write_text('{"caption": "a", "foils": ["a"], "votes": {"caption": 3, "foil": 0, "other": 0}}\n')
        status, got, err = command("report", "validation", "--file", path)
        assert status == 0
        (row,) = got["subtests"]
        assert (row["name"], row["n_valid"], row["n_valid_proficiency"], row["alpha_all"]) == ("x", 1, None, None)
        assert got["overall"]["n_items"] == 1
        assert got["warnings"] == [f"{path}:1: foils: a foil equals the caption"]
        assert "warning" in err

    def test_agreement_keys(self, command, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text("item,annotator,choice\nx,a,caption\nx,b,caption\ny,a,foil\ny,b,caption\n")
        _, got, _ = command("report", "agreement", "--file", path)
        # D_o = 2; caption 3, foil 1 of 4: D_e = (16 - 10) / 3 = 2: alpha 0.
        assert got["alpha"] == pytest.approx(0)
        assert got["coding"] == "truth"
        assert {"alpha_ci", "fleiss_kappa", "percent_agreement", "n_items", "n_votes"} <= got.keys()
        _, three, _ = command("report", "agreement", "--file", path, "--set", "coding=truth3")
        assert three["coding"] == "truth3"

    def test_divergence_keys_and_options(self, command, tmp_path):
        path = tmp_path / "items.jsonl"
        path.write_text('{"caption": "a dog", "foils": ["a cat"]}\n')
        _, got, _ = command("report", "divergence", "--file", path, "--set", "base=e", "--set", "unit=changed")
        assert got["js"] == pytest.approx(np.sqrt(np.log(2)))
        assert {"n_lexical_items", "caption_vocabulary", "foil_vocabulary", "top_shifts"} <= got.keys()

    def test_blind_keys(self, command, tmp_path):
        path = tmp_path / "items.jsonl"
        path.write_text("\n".join(json.dumps({"caption": f"w{n} up", "foils": [f"w{n} down"]}) for n in range(10)))
        _, got, _ = command("report", "blind", "--file", path)
        (row,) = got["subtests"]
        assert (row["name"], row["solver_accuracy"], row["n_items"]) == ("items", 1, 10)
        assert 0.5 < row["ci"][0] < row["ci"][1] == 1

    def test_a_broken_file_is_one_line_with_its_place_and_exit_1(self, command, tmp_path):
        path = tmp_path / "broken.json"
        path.write_text('{\n  "a": {"caption": "x"\n  "foils": []}\n}\n')
        status, got, err = command("report", "validation", "--file", path)
        assert (status, got) == (1, None)
        assert err.startswith(f"foilworks: {path}:3: JSON: ")
        assert err.count("\n") == 1

    def test_out_writes_the_json_and_says_where_it_cannot(self, command, tmp_path):
        path = tmp_path / "items.jsonl"
        path.write_text('{"caption": "a dog", "foils": ["a cat"]}\n')
        _, got, _ = command("report", "divergence", "--file", path, "--out", tmp_path / "out.json")
        assert json.loads((tmp_path / "out.json").read_text())["js"] == got["js"]
        status, _, err = command("report", "divergence", "--file", path, "--out", tmp_path / "none" / "out.json")
        assert status == 1
        assert "cannot be written" in err

    def test_a_parameter_of_another_report_is_one_line(self, command, tmp_path):
        status, _, err = command("report", "blind", "--file", tmp_path / "x", "--set", "coding=truth")
        assert (status, err) == (1, "foilworks: Blind audit has no parameter 'coding'; it takes: no parameters\n")

    @pytest.mark.parametrize("kind", ["validation", "divergence", "blind", "agreement"])
    def test_people_get_a_table(self, kind, tmp_path, capsys):
        items, votes = tmp_path / "items.jsonl", tmp_path / "votes.csv"
        items.write_text('{"caption": "a dog", "foils": ["a cat"]}\n{"caption": "a man", "foils": ["a cat"]}\n')
        votes.write_text("item,annotator,choice\nx,a,caption\nx,b,caption\ny,a,foil\ny,b,caption\n")
        call_command("report", kind, "--file", str(votes if kind == "agreement" else items))
        assert capsys.readouterr().out.strip()
