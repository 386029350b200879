"""Whole results of the metrics, word for word: releases keep them, pages and exports read them by these names."""

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.metrics import classes, control, mc, pairwise, rcad, retrieval
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.classes import Answers
from evaluation.metrics.comparison import paired_difference
from evaluation.metrics.control import sampled_captions, sampled_others
from evaluation.metrics.intervals import mean_intervals, t_interval
from tests.evaluation.builders import choice_scores, pair_scores

HOW = {"draws": 60, "seed": 5}
NOT_SQUARE = r"^similarities have the shape \(.*\); give a square matrix: row i is the text of the video in column i$"
VIDEOS = ["u", "u", "v", "w"]


def intervals(*columns, clusters=VIDEOS, **how):
    return mean_intervals(np.array(columns, dtype=float).T, clusters, **(how or HOW))


def other_seed(compute, *data, **params):
    return compute(*data, **params, draws=60, seed=6)


class TestMultipleChoice:
    # Right, wrong, tied with one of two, right: credits 1, 0, 1/2, 1 over choices 3, 3, 3, 2.
    DATA = choice_scores([[5, 1, 1], [1, 5, 1], [2, 2, 1], [3, 1]], clusters=VIDEOS)
    CREDIT = (1, 0, 0.5, 1)

    def test_the_whole_result(self):
        (interval,) = intervals(self.CREDIT)
        assert mc.compute(self.DATA, **HOW) == {
            "tie_policy": "half",
            "accuracy": 2.5 / 4,
            "n": 4,
            "ties": 0.25,
            "ci": interval,
            "t_ci": t_interval(np.array(self.CREDIT), VIDEOS),
            "chance": (1 / 3 * 3 + 1 / 2) / 4,
        }

    def test_draws_and_seed_reach_the_interval(self):
        credit = np.arange(40) % 3 == 0
        data = choice_scores([[2, 1] if right else [1, 2] for right in credit])
        assert mc.compute(data, draws=70, seed=1)["ci"] == intervals(credit, clusters=None, draws=70, seed=1)[0]
        assert mc.compute(data, draws=70, seed=1)["ci"] != mc.compute(data, draws=70, seed=2)["ci"]


class TestRcad:
    # Ranks 1, 2, tied for 1 and 2 (1.5), and 4 of 4.
    DATA = choice_scores([[9, 1, 2, 3], [4, 5, 1, 2], [3, 3, 1, 1], [1, 2, 3, 4]], clusters=VIDEOS)

    def test_the_whole_result(self):
        columns = ((1, 0, 0.5, 0), (1, 1, 1, 0), (1, 1, 1, 0), (1, 2, 1.5, 4))
        found = intervals(*columns)
        assert rcad.compute(self.DATA, **HOW) == {
            "tie_policy": "half",
            "R@1": 1.5 / 4,
            "R@2": 3 / 4,
            "R@3": 3 / 4,
            "mean_rank": 8.5 / 4,
            "median_rank": 1.75,
            "n": 4,
            "R@1_ci": found[0],
            "R@2_ci": found[1],
            "R@3_ci": found[2],
            "mean_rank_ci": found[3],
            "ties": 0.25,
            "chance": {"R@1": 1 / 4, "R@2": 2 / 4, "R@3": 3 / 4},
        }
        assert rcad.compute(self.DATA, ties="strict", **HOW)["tie_policy"] == "strict"

    def test_another_seed_draws_another_interval(self):
        assert other_seed(rcad.compute, self.DATA)["mean_rank_ci"] != rcad.compute(self.DATA, **HOW)["mean_rank_ci"]

    def test_chance_is_at_most_one_where_there_are_fewer_choices_than_places(self):
        assert rcad.compute(choice_scores([[1, 2]]), **HOW)["chance"] == {"R@1": 0.5, "R@2": 1.0, "R@3": 1.0}


class TestClasses:
    DATA = Answers(list("abcd"), ["x", "x", "", "y"], VIDEOS, {"m": np.array([1.0, 0.0, 1.0, 1.0])})

    def test_the_whole_result(self):
        right = (1, 0, 1, 1)
        (interval,) = intervals(right)
        assert classes.compute(self.DATA, **HOW) == {
            "models": [
                {
                    "model": "m",
                    "accuracy": 3 / 4,
                    "ci": interval,
                    "t_ci": t_interval(np.array(right, dtype=float), VIDEOS),
                    "class_mean": (1 / 2 + 1) / 2,
                    "n": 4,
                }
            ],
            "n": 4,
            "n_classes": 2,
            "chance": 1 / 2,
        }

    def test_another_seed_draws_another_interval(self):
        one, two = (found["models"][0]["ci"] for found in (classes.compute(self.DATA, **HOW), self.again()))
        assert one != two

    def again(self):
        return other_seed(classes.compute, self.DATA)

    def test_without_classes_there_is_no_mean_over_them_and_no_chance(self):
        found = classes.compute(Answers(["a"], [""], ["u"], {"m": np.array([1.0])}), **HOW)
        assert (found["models"][0]["class_mean"], found["chance"], found["n_classes"]) == (None, None, 0)

    def test_missing_items_are_reported(self):
        with pytest.raises(EvaluationError, match=r"^there are no samples; give at least one$"):
            classes.compute(Answers([], [], [], {}))


class TestPairwise:
    # Main: right, tied, wrong, right; proficiency: right, right, right, none. One foil each, two in the third.
    MAIN = [[2, 1], [1, 1], [1, 2, 0], [3, 1]]
    SIMPLE = [[2, 1], [1, 0], [1, 1], []]
    DATA = pair_scores(MAIN, SIMPLE, subtests=["s", "s", "t", "t"], tests=["x", "x", "x", "y"], clusters=VIDEOS)
    ALONE = pair_scores(MAIN, clusters=VIDEOS)

    def test_the_whole_result_over_items_with_a_proficiency_item(self):
        right, able = (1, 0.5, 0), (1, 1, 0.5)
        found = intervals(right, able, (1, 0.5, 0), clusters=VIDEOS[:3])
        assert pairwise.compute(self.DATA, **HOW)["overall"] == {
            "T": 1.5 / 3,
            "P": 2.5 / 3,
            "P+T": 1.5 / 3,
            "n": 3,
            "ties": 1 / 3,
            "ties_P": 1 / 3,
            "chance": {
                "T": pytest.approx((1 / 2 + 1 / 2 + 1 / 3) / 3),
                "P": 1 / 2,
                "P+T": pytest.approx((1 / 4 + 1 / 4 + 1 / 6) / 3),
            },
            "T_ci": found[0],
            "P_ci": found[1],
            "P+T_ci": found[2],
            "T_t_ci": t_interval(np.array(right, dtype=float), VIDEOS[:3]),
            "T_all": 2.5 / 4,
            "n_all": 4,
            "n_clusters": 2,
        }

    def test_the_whole_result_without_any(self):
        right = (1, 0.5, 0, 1)
        (interval,) = intervals(right)
        assert pairwise.compute(self.ALONE, **HOW)["overall"] == {
            "T": 2.5 / 4,
            "P": None,
            "P+T": None,
            "n": 4,
            "ties": 1 / 4,
            "ties_P": None,
            "chance": {"T": pytest.approx((1 / 2 * 3 + 1 / 3) / 4), "P": None, "P+T": None},
            "T_ci": interval,
            "P_ci": None,
            "P+T_ci": None,
            "T_t_ci": t_interval(np.array(right, dtype=float), VIDEOS),
            "T_all": 2.5 / 4,
            "n_all": 4,
            "n_clusters": 3,
        }

    def test_groups_are_computed_over_their_own_items(self):
        found = pairwise.compute(self.DATA, **HOW)
        assert set(found) == {"tie_policy", "overall", "subtests", "tests", "avg_P+T"}
        assert found["tie_policy"] == "half"
        assert list(found["subtests"]) == ["s", "t"]
        assert list(found["tests"]) == ["x", "y"]
        only = pair_scores(self.MAIN[:2], self.SIMPLE[:2], clusters=VIDEOS[:2])
        assert found["subtests"]["s"] == pairwise.compute(only, **HOW)["overall"]
        # The second test has no proficiency item: it has no part in the mean.
        assert found["tests"]["y"]["P+T"] is None
        assert found["avg_P+T"] == found["tests"]["x"]["P+T"] == 0.5

    def test_draws_and_seed_reach_the_intervals_of_every_group(self):
        credit = np.arange(40) % 3 == 0
        data = pair_scores([[2, 1] if right else [1, 2] for right in credit])
        found = pairwise.compute(data, draws=70, seed=1)
        (interval,) = intervals(credit, clusters=None, draws=70, seed=1)
        groups = (found["overall"], found["subtests"]["only"], found["tests"]["only"])
        assert [group["T_ci"] for group in groups] == [interval] * 3
        assert pairwise.compute(data, draws=70, seed=2)["overall"]["T_ci"] != interval

    def test_missing_items_are_reported(self):
        with pytest.raises(EvaluationError, match=r"^there are no scored items; give at least one record$"):
            pairwise.compute(pair_scores([]))


class TestRetrieval:
    SIM = np.array([[0.9, 0.1, 0.2, 0.0], [0.8, 0.7, 0.1, 0.0], [0.3, 0.6, 0.6, 0.0], [0.5, 0.4, 0.3, 0.2]])

    def test_the_whole_result(self):
        # Rows: ranks 1, 2, tied for 1 (1.5), 4. Columns: all first.
        rows = mean_intervals(np.array([[1, 1, 1], [0, 1, 1], [0.5, 1, 1], [0, 1, 1.0]]), None, **HOW)
        # All four of four: at most 1 - .025^(1/4) of all are otherwise.
        sure = pytest.approx([0.025**0.25, 1.0])
        assert retrieval.compute(self.SIM, **HOW) == {
            "tie_policy": "half",
            "n": 4,
            "t2v": {
                "R@1": 1.5 / 4,
                "R@5": 1.0,
                "R@10": 1.0,
                "median_rank": 1.75,
                "mean_rank": 8.5 / 4,
                "R@1_ci": rows[0],
                "R@5_ci": sure,
                "R@10_ci": sure,
                "ties": 0.25,
            },
            "v2t": {
                "R@1": 1.0,
                "R@5": 1.0,
                "R@10": 1.0,
                "median_rank": 1.0,
                "mean_rank": 1.0,
                "R@1_ci": sure,
                "R@5_ci": sure,
                "R@10_ci": sure,
                "ties": 0.0,
            },
        }

    def test_another_seed_draws_another_interval_in_both_directions(self):
        for sim, way in ((self.SIM, "t2v"), (self.SIM.T, "v2t")):
            one, two = retrieval.compute(sim, **HOW), other_seed(retrieval.compute, sim)
            assert one[way]["R@1_ci"] != two[way]["R@1_ci"]

    def test_invalid_input_is_reported(self):
        for wrong in (np.zeros((2, 3)), np.zeros(4), np.zeros((0, 0)), np.zeros((2, 2, 2))):
            with pytest.raises(EvaluationError, match=NOT_SQUARE):
                retrieval.compute(wrong)
        broken = np.eye(3, dtype=np.float32)
        broken[1, 2] = np.inf
        said = r"^row 2, column 3: similarity is inf; give a finite number for every pair$"
        with pytest.raises(EvaluationError, match=said):
            retrieval.compute(broken)

    def test_a_row_beyond_the_first_block_is_named_by_its_own_number(self, monkeypatch):
        monkeypatch.setattr(retrieval, "BLOCK_BYTES", 3 * 8)
        broken = np.eye(3)
        broken[2, 1] = np.nan
        with pytest.raises(EvaluationError, match=r"^row 3, column 2: similarity is nan"):
            retrieval.compute(broken)


class TestControl:
    SIM = np.random.default_rng(8).normal(size=(9, 9))

    def test_it_is_rcad_over_the_own_and_the_sampled_texts(self):
        own = np.arange(9)
        rows = np.column_stack([own, sampled_others(9, 4, 5)])
        names = [str(k) for k in own]
        scores = ChoiceScores(names, self.SIM[rows, own[:, None]], np.zeros(9, dtype=np.int64), names)
        for ties in ("half", "strict"):
            expected = rcad.compute(scores, ties=ties, draws=60)
            found = control.compute(self.SIM, ties=ties, candidates=4, draws=60, seed=5)
            assert found == {**expected, "candidates": 4, "seed": 5}

    def test_a_seed_always_samples_the_same(self):
        assert sampled_others(5, 3, 0).tolist() == [[3, 4], [2, 0], [4, 0], [2, 4], [1, 2]]
        assert sampled_others(5, 3, 1).tolist() == [[2, 3], [0, 3], [4, 3], [4, 0], [3, 0]]
        captions = [f"caption {k}" for k in range(8)]
        names, sources = ["a", "b"] * 4, [f"v{k // 2}" for k in range(8)]
        found = sampled_captions(names, sources, captions, candidates=3, seed=0)
        places = [[int(text[-1]) for text in texts] for texts in found]
        assert places == [[4, 2], [3, 5], [4, 7], [5, 6], [2, 7], [3, 6], [4, 2], [3, 5]]
        found = sampled_captions(names, sources, captions, candidates=2, seed=1)
        assert [int(text[-1]) for (text,) in found] == [7, 2, 7, 0, 7, 0, 0, 0]

    def test_the_drop_is_over_the_items_of_both(self):
        # Among counterfactuals: wrong, a tie, right; among sampled ones two are right, one in its second place.
        ranked = choice_scores([[0, 1], [1, 1], [1, 2]], right=[0, 0, 1], clusters=["u", "v", "w"])
        sampled = ChoiceScores(["r2", "r1"], np.array([[2.0, 1], [1, 2]]), np.array([0, 1]), ["w", "v"])
        found = control.beside(ranked, sampled, {"seed": 3}, "strict", draws=60)
        drop = paired_difference(np.array([1.0, 1.0]), np.array([1.0, 0.0]), ["w", "v"], draws=60)
        assert found == {**rcad.compute(sampled, ties="strict", draws=60), "seed": 3, "drop": drop.plain()}
        half = control.beside(ranked, sampled, {}, "half", draws=60)
        assert (half["drop"]["value"], half["tie_policy"]) == (0.25, "half")

    def test_every_item_has_a_source_and_a_caption(self):
        for names, sources, captions in ((["a"], ["v", "w"], ["c", "d"]), (["a", "b"], ["v", "w"], ["c", "d", "e"])):
            with pytest.raises(ValueError, match="argument 2 is longer"):
                sampled_captions(names, sources, captions, candidates=2)

    def test_invalid_input_is_reported(self):
        for wrong in (np.zeros((2, 3)), np.zeros(4), np.zeros((0, 0)), np.zeros((2, 2, 2))):
            with pytest.raises(EvaluationError, match=NOT_SQUARE):
                control.compute(wrong)
        for sample in (lambda: sampled_others(9, 1), lambda: sampled_captions(["a"], ["v"], ["c"], candidates=1)):
            with pytest.raises(EvaluationError, match=r"^1 candidates are too few; give at least 2$"):
                sample()
        said = r"^item 'a': 3 candidates need 2 captions of other videos, but there are 1; leave the control out$"
        with pytest.raises(EvaluationError, match=said):
            sampled_captions(["a", "b"], ["v", "w"], ["one", "two"], candidates=3)
        assert sampled_captions(["a", "b"], ["v", "w"], ["one", "two"], candidates=2) == [("two",), ("one",)]
        assert sampled_others(2, 2).tolist() == [[1], [0]]
        broken = np.ones((6, 6))
        broken[2, 4] = np.nan
        said = r"^row 3, column 5: similarity is nan; give a finite number for every pair$"
        with pytest.raises(EvaluationError, match=said):
            control.compute(broken)
