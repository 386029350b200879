"""Retrieval among sampled candidates, re-ranked retrieval, answers instead of scores: by hand and by invariants."""

import json
import re

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.errors import EvaluationError
from evaluation.metrics import classes, control, rcad
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.classes import Answers
from evaluation.metrics.control import sampled_captions, sampled_others
from evaluation.score_files.answers import mismatches, read_answers
from evaluation.score_files.tables import Table
from foilworks.core.text.errors import ActionableError

DRAWS = 20
quick = settings(max_examples=40, deadline=None)


class TestControl:
    @quick
    @given(st.integers(6, 40), st.integers(2, 6), st.integers(0, 99))
    def test_sampled_captions_are_distinct_and_of_other_videos(self, size, candidates, seed):
        others = sampled_others(size, candidates, seed)
        assert others.shape == (size, candidates - 1)
        for row, places in enumerate(others):
            assert row not in places
            assert len(set(places.tolist())) == candidates - 1
            assert 0 <= places.min() <= places.max() < size

    def test_all_candidates_of_six_by_hand(self):
        # With six records every video's candidates are all six texts: ranks down the columns of the matrix.
        sim = np.zeros((6, 6))
        np.fill_diagonal(sim, [6, 6, 6, 3, 2, 1])
        sim[0, 3:] = 5  # the text of video 0 beats the own one of the last three
        sim[1, 5] = 4
        found = control.compute(sim, draws=DRAWS)
        assert found["R@1"] == 0.5
        assert found["R@2"] == pytest.approx(5 / 6)
        assert found["mean_rank"] == pytest.approx((1 + 1 + 1 + 2 + 2 + 3) / 6)
        assert (found["candidates"], found["n"]) == (6, 6)

    @quick
    @given(st.integers(6, 30), st.integers(2, 6), st.integers(0, 9))
    def test_sampled_captions_are_of_other_videos_whatever_the_order(self, size, candidates, seed):
        names = [f"i{k}" for k in range(size)]
        sources = [f"v{k // 2}" for k in range(size)]
        captions = [f"caption {k % (size - 1)}" for k in range(size)]
        if size < candidates + 4:
            return
        found = sampled_captions(names, sources, captions, candidates=candidates, seed=seed)
        own = {source: {c for c, s in zip(captions, sources, strict=True) if s == source} for source in sources}
        for source, texts in zip(sources, found, strict=True):
            assert len(set(texts)) == candidates - 1
            assert not own[source] & set(texts)
        back = sampled_captions(names[::-1], sources[::-1], captions[::-1], candidates=candidates, seed=seed)
        assert back[::-1] == found

    def test_an_added_caption_changes_few_samples_and_a_new_seed_most(self):
        names, sources = [f"i{k}" for k in range(200)], [f"v{k}" for k in range(200)]
        captions = [f"caption {k}" for k in range(200)]
        first = sampled_captions(names, sources, captions)
        more = sampled_captions([*names, "new"], [*sources, "w"], [*captions, "a new caption"])
        # Each of the 200 takes the new one among its five with chance 5 / 200: 5 on average.
        assert 0 < sum(one != other for one, other in zip(first, more, strict=False)) < 15
        other = sampled_captions(names, sources, captions, seed=1)
        assert sum(one != two for one, two in zip(first, other, strict=True)) > 190
        often = np.unique([text for texts in first for text in texts], return_counts=True)[1]
        assert often.max() < 20

    def test_too_few_captions_of_other_videos_are_named(self):
        with pytest.raises(EvaluationError, match=r"'a'.*there are 1"):
            sampled_captions(["a", "b"], ["v", "w"], ["one", "two"])

    def test_the_drop_is_paired_over_the_same_items(self):
        # a, b, c: right among counterfactuals .5 (a tie), 0, 1; among sampled captions 1, 1, 1. c lacks the control.
        hard = np.array([[1.0, 1, 0], [0, 1, 0], [2, 1, 0]])
        ranked = ChoiceScores(["a", "b", "c"], hard, np.zeros(3, int), list("abc"))
        sampled = ChoiceScores(["b", "a"], np.array([[1.0, 0, 0], [1, 0, 0]]), np.zeros(2, int), list("ba"))
        found = control.beside(ranked, sampled, {"candidates": 3, "seed": 0}, "half", draws=DRAWS)
        assert found["drop"]["value"] == pytest.approx(((1 - 0.5) + (1 - 0)) / 2)
        assert (found["R@1"], found["n"], found["seed"]) == (1, 2, 0)

    def test_the_drop_is_taken_over_videos(self):
        names, videos = [f"i{k}" for k in range(8)], [f"v{k // 4}" for k in range(8)]
        hard = np.array([[1.0, 2 * (k < 3)] for k in range(8)])
        ranked = ChoiceScores(names, hard, np.zeros(8, int), videos)
        sampled = ChoiceScores(names, np.array([[1.0, 0]] * 8), np.zeros(8, int), videos)
        found = control.beside(ranked, sampled, {}, "half", draws=DRAWS)
        assert (found["drop"]["n"], found["drop"]["n_clusters"]) == (8, 2)

    def test_its_intervals_are_of_as_many_draws_as_are_asked_for(self):
        names = [f"i{k}" for k in range(8)]
        scores = ChoiceScores(names, np.array([[1.0, 2 * (k < 3)] for k in range(8)]), np.zeros(8, int), names)
        asked, usual = (rcad.compute(scores, draws=draws)["mean_rank_ci"] for draws in (3, DRAWS))
        assert control.beside(scores, scores, {}, "half", draws=3)["mean_rank_ci"] == asked != usual

    def test_each_item_takes_its_captions_by_an_order_of_its_own(self):
        names = [f"i{k}" for k in range(40)]
        captions = [f"caption {k}" for k in range(40)]
        few = sampled_captions(names, names, captions, candidates=4)
        # Whoever asks for more gets the same first.
        assert [texts[:3] for texts in sampled_captions(names, names, captions, candidates=12)] == few

    def test_a_constant_model_is_at_chance(self):
        found = control.compute(np.ones((10, 10)), draws=DRAWS)
        assert found["R@1"] == pytest.approx(1 / 6)
        assert found["mean_rank"] == 3.5

    @quick
    @given(st.integers(0, 99))
    def test_a_rising_transform_changes_nothing_and_a_perfect_model_is_perfect(self, seed):
        sim = np.random.default_rng(seed).normal(size=(12, 12))
        assert control.compute(np.exp(sim) * 3, draws=DRAWS) == control.compute(sim, draws=DRAWS)
        assert control.compute(sim + 100 * np.eye(12), draws=DRAWS)["R@1"] == 1

    def test_invalid_input_is_reported(self):
        with pytest.raises(EvaluationError, match="3 records are too few for 6 candidates each"):
            control.compute(np.ones((3, 3)))
        with pytest.raises(EvaluationError, match="square"):
            control.compute(np.ones((3, 4)))
        with pytest.raises(EvaluationError, match="at least 2"):
            sampled_others(9, 1)
        sim = np.ones((6, 6))
        sim[2, 4] = np.nan
        with pytest.raises(EvaluationError, match="row 3, column 5"):
            control.compute(sim)


class TestClasses:
    def test_by_hand(self):
        data = Answers(list("wxyz"), list("aaab"), list("wxyz"), {"m": np.array([1.0, 1.0, 0.0, 0.0])})
        found = classes.compute(data, draws=DRAWS)
        (row,) = found["models"]
        assert (row["accuracy"], row["class_mean"], row["n"]) == (0.5, pytest.approx(1 / 3), 4)
        assert (found["n_classes"], found["chance"]) == (2, 0.5)

    @quick
    @given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from("abc")), min_size=1, max_size=20), st.randoms())
    def test_the_order_of_samples_changes_nothing(self, rows, random):
        names = [str(k) for k in range(len(rows))]
        order = list(range(len(rows)))
        random.shuffle(order)

        def found(places):
            right = np.array([float(rows[k][0]) for k in places])
            labels = [rows[k][1] for k in places]
            return classes.compute(
                Answers([names[k] for k in places], labels, [names[k] for k in places], {"m": right})
            )

        assert found(order) == found(range(len(rows)))


class TestFiles:
    def write(self, tmp_path, text, name="p.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    def test_utd_predictions_and_right_and_wrong(self, tmp_path):
        path = self.write(tmp_path, "sample,class,prediction_clip,prediction_x\nv1,run,run,jump\nv2,jump,run,jump\n")
        found = read_answers(Table(path))
        assert {name: list(right) for name, right in found.right.items()} == {"clip": [1, 0], "x": [0, 1]}
        path = self.write(tmp_path, "sample,class,correct_1,correct_2,confidence\nv1,run,1,0,.9\nv2,run,true,1,.8\n")
        assert {name: list(right) for name, right in read_answers(Table(path)).right.items()} == {
            "1": [1, 1],
            "2": [0, 1],
        }

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("class,prediction\na,b\n", r"1: id: there is no such column \(its columns: class, prediction\)"),
            ("sample,class\nv,a\n", "2: prediction: is missing"),
            ("sample,class,correct_1\nv,a,2\n", "2: correct_1: is '2'; give 0 or 1"),
            ("sample,class,prediction\nv,a,b\nv,a,b\n", "3: sample: 'v' occurs twice in the file"),
            ("sample,class,prediction_a,prediction_b\nv,a,b,c\nw,a,b,\n", "3: b: is missing for some samples"),
            ("sample,class,prediction\nv,a,b,c\n", "2: record: has more cells"),
            ("sample,class,prediction\n", "there is none"),
        ],
    )
    def test_bad_answers_are_reported_with_their_place(self, tmp_path, text, what):
        with pytest.raises(ActionableError, match=what):
            read_answers(Table(self.write(tmp_path, text)))

    def run(self, capsys, *args):
        call_command("metrics", *map(str, args), "--json")
        return json.loads(capsys.readouterr().out)

    def test_the_command_reads_predictions_and_lists_mismatches(self, tmp_path, capsys):
        chosen = self.write(tmp_path, "id,prediction,right\na,0,\nb,3,3\nc,1,0\n")
        items = self.write(tmp_path, "a\nb\nd\n", "ids.txt")
        found = self.run(capsys, "mc", "--file", chosen, "--against", items)
        assert found["accuracy"] == pytest.approx(2 / 3)
        assert found["unmatched"] == {"not_in_scores": ["d"], "not_in_list": ["c"]}
        # Five candidates, or two: a prediction does not say, and half is not what guessing gets.
        assert found["chance"] is None
        call_command("metrics", "mc", "--file", str(chosen))
        assert re.search(r"^chance +-$", capsys.readouterr().out, re.MULTILINE)
        with pytest.raises(SystemExit):
            self.run(capsys, "rcad", "--file", chosen)
        utd = self.write(tmp_path, "sample,class,prediction\nv1,run,run\n", "u.csv")
        assert self.run(capsys, "classes", "--file", utd)["models"][0]["accuracy"] == 1
        matrix = tmp_path / "s.npy"
        np.save(matrix, np.eye(7))
        assert self.run(capsys, "control", "--file", matrix)["R@1"] == 1

    def test_mismatches_keep_their_order(self):
        assert mismatches(["c", "a"], ["b", "a", "d"]) == {"not_in_scores": ["b", "d"], "not_in_list": ["c"]}
