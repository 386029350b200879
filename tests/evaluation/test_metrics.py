"""Every expected number is worked out by hand beside its assertion."""

import math

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.metrics import mc, pairwise, rcad, retrieval
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.registry import METRICS, TIES
from evaluation.metrics.ties import POLICIES, hit, rank, standing
from foilworks.core.text.registry import load
from tests.evaluation.builders import choice_scores, pair_scores

DRAWS = 200


def run(main, proficiency=None, ties="half", **kwargs):
    return pairwise.compute(pair_scores(main, proficiency, **kwargs), ties=ties, draws=DRAWS)


class TestPairwise:
    def test_vilma_table_8_chance_of_one_foil_and_two_foil_items(self):
        main = [[1.0, 0.0]] * 46 + [[1.0, 0.0, 0.0]] * 658
        result = run(main, [[1.0, 0.0]] * 704)["overall"]
        # T: (46 / 2 + 658 / 3) / 704 = 242.333 / 704; P: 1 / 2 each; P+T: (46 / 4 + 658 / 6) / 704
        assert result["chance"]["T"] == pytest.approx(0.3442235)
        assert round(100 * result["chance"]["T"], 2) == 34.42
        assert result["chance"]["P"] == 0.5
        assert round(100 * result["chance"]["P+T"], 2) == 17.21

    def test_credits_of_each_tie_policy(self):
        # wins; loses; ties with its one foil; ties with two of two foils; ties with one but loses to the other
        main = [[2, 1], [1, 2], [1, 1], [1, 1, 1], [1, 1, 2]]
        expected = {
            "half": (1 + 0 + 1 / 2 + 1 / 3 + 0) / 5,
            "strict": 1 / 5,
            "optimistic": 3 / 5,
            "first": 3 / 5,
        }
        for policy, share in expected.items():
            assert run(main, ties=policy)["overall"]["T"] == pytest.approx(share), policy
        # Ties are counted where they decide: items 3 and 4.
        assert run(main)["overall"]["ties"] == 2 / 5

    def test_p_t_and_both_cover_the_items_with_a_proficiency_item(self):
        main = [[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]]
        proficiency = [[1, 0], [0, 1], [1, 0], [], []]
        got = run(main, proficiency)["overall"]
        # First three items: T = 2/3, P = 2/3, both right only in the first; all five: T = 3/5.
        assert (got["T"], got["P"], got["P+T"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(1 / 3))
        assert (got["n"], got["n_all"], got["T_all"]) == (3, 5, 3 / 5)

    def test_both_right_under_ties_is_the_product_of_the_credits(self):
        got = run([[1, 1], [1, 1, 1]], [[1, 1], [2, 1]])["overall"]
        assert got["P+T"] == pytest.approx((1 / 2 * 1 / 2 + 1 / 3 * 1) / 2)

    def test_without_proficiency_items_t_covers_all_and_p_is_null(self):
        got = run([[1, 0], [0, 1]])
        assert (got["overall"]["T"], got["overall"]["P"], got["overall"]["P+T"]) == (0.5, None, None)
        assert got["overall"]["n"] == got["overall"]["n_all"] == 2
        assert got["overall"]["chance"] == {"T": 0.5, "P": None, "P+T": None}
        assert got["avg_P+T"] is None

    def test_a_test_pools_the_items_of_its_subtests_and_the_average_weighs_tests_equally(self):
        main = [[1, 0]] * 3 + [[0, 1]] + [[1, 0]]
        proficiency = [[1, 0]] * 5
        got = run(main, proficiency, subtests=["a"] * 3 + ["b", "c"], tests=["x"] * 4 + ["y"])
        assert got["tests"]["x"]["P+T"] == 3 / 4  # pooled; the mean of the subtests would be 1/2
        assert got["tests"]["y"]["P+T"] == 1
        assert got["avg_P+T"] == (3 / 4 + 1) / 2
        assert {name: group["n"] for name, group in got["subtests"].items()} == {"a": 3, "b": 1, "c": 1}

    def test_a_clip_asked_twice_widens_the_interval(self):
        main = [[1, 0], [0, 1]] * 40
        alone = run(main)["overall"]
        # Two equal answers a video: half as many independent draws.
        paired = pairwise.compute(
            pair_scores([[1, 0], [1, 0], [0, 1], [0, 1]] * 20, clusters=[f"v{n // 2}" for n in range(80)]), draws=2000
        )["overall"]
        assert paired["n_clusters"] == 40
        assert _width(paired["T_ci"]) > 1.2 * _width(alone["T_ci"])
        # 80 items of variance 1/4: error sqrt(1/4 / 80 * 80/79); t quantile with 79 degrees is 1.990.
        assert alone["T_t_ci"][1] - 0.5 == pytest.approx(1.99045 * math.sqrt(0.25 / 79), rel=1e-4)

    def test_the_interval_is_the_same_at_every_run(self):
        main = [[1, 0]] * 30 + [[0, 1]] * 20
        assert run(main)["overall"]["T_ci"] == run(main)["overall"]["T_ci"]

    def test_one_item_has_no_interval(self):
        assert run([[1, 0]])["overall"]["T_ci"] is None
        assert run([[1, 0]])["overall"]["T_t_ci"] is None

    def test_missing_items_are_reported(self):
        with pytest.raises(EvaluationError, match="at least one record"):
            run([])

    def test_an_unknown_tie_policy_is_named_with_the_known_ones(self):
        with pytest.raises(EvaluationError, match=r"'random'.*half, strict, optimistic, first"):
            run([[1, 0]], ties="random")


class TestRcad:
    def test_ranks_and_recall_by_hand(self):
        scores = [
            [9, 1, 2, 3, 4, 5],  # rank 1
            [4, 5, 1, 2, 3, 0],  # rank 2
            [1, 2, 3, 4, 5, 6],  # rank 6
            [3, 3, 3, 1, 1, 1],  # tied for places 1-3: mean rank 2, R@1 1/3, R@2 2/3, R@3 1
        ]
        got = rcad.compute(choice_scores(scores), draws=DRAWS)
        assert got["R@1"] == pytest.approx((1 + 0 + 0 + 1 / 3) / 4)
        assert got["R@2"] == pytest.approx((1 + 1 + 0 + 2 / 3) / 4)
        assert got["R@3"] == pytest.approx((1 + 1 + 0 + 1) / 4)
        assert got["mean_rank"] == (1 + 2 + 6 + 2) / 4
        assert got["median_rank"] == 2
        assert got["n"] == 4
        assert got["chance"]["R@1"] == pytest.approx(1 / 6)

    def test_the_caption_may_be_in_another_column(self):
        scores = np.array([[3.0, 1, 2], [1, 2, 3], [2, 3, 1]])
        got = rcad.compute(ChoiceScores(list("abc"), scores, np.array([2, 2, 0]), list("abc")), draws=DRAWS)
        assert (got["R@1"], got["R@2"], got["mean_rank"]) == (pytest.approx(1 / 3), 1, pytest.approx(5 / 3))

    def test_ties_go_as_the_policy_says(self):
        tied = choice_scores([[3, 3, 3, 1, 1, 1]])
        means = {policy: rcad.compute(tied, ties=policy, draws=DRAWS)["mean_rank"] for policy in POLICIES}
        assert means == {"half": 2, "strict": 3, "optimistic": 1, "first": 1}

    def test_records_with_fewer_negatives_rank_among_their_own(self):
        got = rcad.compute(choice_scores([[1, 2], [1, 2, 3]]), draws=DRAWS)
        assert got["mean_rank"] == (2 + 3) / 2


class TestMultipleChoice:
    def test_accuracy_ties_and_chance(self):
        got = mc.compute(choice_scores([[5, 1, 1, 1, 1], [1, 5, 1, 1, 1], [2, 2, 1, 1, 1]]), draws=DRAWS)
        assert got["accuracy"] == pytest.approx((1 + 0 + 1 / 2) / 3)
        assert got["ties"] == pytest.approx(1 / 3)
        assert got["chance"] == pytest.approx(1 / 5)

    def test_the_right_answer_may_be_in_another_column(self):
        data = choice_scores([[1, 5, 0], [5, 5, 0]], right=[1, 1])
        # `first` gives the tie of the second record to column 0, which is wrong.
        assert mc.compute(data, ties="first", draws=DRAWS)["accuracy"] == 0.5
        assert mc.compute(data, ties="optimistic", draws=DRAWS)["accuracy"] == 1


class TestRetrieval:
    SIM = np.array([[0.9, 0.1, 0.2], [0.8, 0.7, 0.1], [0.3, 0.6, 0.6]])

    def test_both_directions_by_hand(self):
        got = retrieval.compute(self.SIM, draws=DRAWS)
        # Rows: ranks 1, 2 and a tie for 1 (1.5). Columns: .9 is first; .7 is first; .6 is first.
        assert got["t2v"]["R@1"] == pytest.approx((1 + 0 + 1 / 2) / 3)
        assert got["t2v"]["mean_rank"] == pytest.approx((1 + 2 + 1.5) / 3)
        assert got["t2v"]["median_rank"] == 1.5
        assert got["v2t"]["R@1"] == 1
        assert got["t2v"]["R@5"] == 1

    def test_the_order_of_the_gallery_breaks_ties_under_first(self):
        # Row 2 ties with column 1, which comes earlier, so that `first` loses it.
        assert retrieval.compute(self.SIM, ties="first", draws=DRAWS)["t2v"]["R@1"] == pytest.approx(1 / 3)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_small_blocks_change_nothing(self, policy, monkeypatch):
        sim = np.random.default_rng(3).integers(0, 6, (40, 40)).astype(np.float32)
        whole = retrieval.compute(sim, ties=policy, draws=DRAWS)
        monkeypatch.setattr(retrieval, "BLOCK_BYTES", 40 * 4 * 7)
        assert retrieval.compute(sim, ties=policy, draws=DRAWS) == whole
        swapped = retrieval.compute(sim.T, ties=policy, draws=DRAWS)
        assert (swapped["t2v"], swapped["v2t"]) == (whole["v2t"], whole["t2v"])

    def test_another_shape_and_a_nan_are_named(self):
        with pytest.raises(EvaluationError, match=r"\(2, 3\).*square"):
            retrieval.compute(np.zeros((2, 3)))
        sim = np.zeros((3, 3))
        sim[1, 2] = np.nan
        with pytest.raises(EvaluationError, match="row 2, column 3"):
            retrieval.compute(sim)


def test_rank_and_hit_agree_on_the_best_place():
    where = standing(np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 1.0]]))
    assert list(rank(where, "half")) == [1, 2, 1.5]
    assert list(hit(where, "half")) == [1, 0, 0.5]
    assert list(where.chance) == [0.5, 0.5, 0.5]


def test_the_table_offers_the_policies_that_there_are():
    assert TIES.choices == POLICIES


def test_every_row_gives_what_the_commands_call():
    for slug, entry in METRICS.items():
        module = load(entry)
        assert module.INPUT in {"pairs", "choices", "two_clips", "sets", "matrix", "answers", "open"}, slug
        assert callable(module.compute)


def _width(interval):
    return interval[1] - interval[0]
