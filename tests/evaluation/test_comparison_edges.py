"""Where comparisons of models end: nothing shared, one video, level models, answers that earn a part."""

import numpy as np
import pytest
from scipy import stats

from evaluation.errors import EvaluationError
from evaluation.metrics.comparison import (
    ALPHA,
    NOTHING,
    Difference,
    McNemar,
    _t_test,
    _tests_on_shared_items,
    bootstrap_p,
    items_to_separate,
    mcnemar,
    paired_difference,
    pairwise_tests,
    tied_groups,
)
from evaluation.metrics.intervals import cluster_sums, percentiles, resampled_sums
from evaluation.metrics.ranking import ModelScores, column_credit, default_column, ranking, scoped_credit

NAN = np.nan


def credits(*values):
    return np.array(values, dtype=np.float64)


class TestDifference:
    A, B, VIDEOS = credits(1, 1, 0, 1, NAN), credits(0, 1, 0, 0, 1), list("uvwww")

    def test_the_whole_result(self):
        videos = [f"{name}{k}" for k in range(8) for name in self.VIDEOS]
        found = paired_difference(np.tile(self.A, 8), np.tile(self.B, 8), videos, draws=80, seed=4)
        # Eight times gaps 1, 0, 0, 1 over u, v, w: sums 1 of 1, 0 of 1, 1 of 2; mean 1/2, residuals 1/2, -1/2, 0.
        names = [f"{name}{k}" for k in range(8) for name in "uvww"]
        rows = cluster_sums(np.column_stack([np.tile(credits(1, 0, 0, 1), 8), np.ones(32)]), names)
        sums = resampled_sums(rows, draws=80, seed=4)
        drawn = sums[:, 0] / sums[:, 1]
        error = np.sqrt(4 * 24 / 23) / 32
        reach = stats.t.ppf(0.975, 23) * error
        assert found == Difference(
            value=0.5,
            ci=percentiles(drawn),
            t_ci=pytest.approx([0.5 - reach, 0.5 + reach]),
            p=bootstrap_p(drawn),
            p_t=pytest.approx(2 * stats.t.sf(0.5 / error, 23)),
            n=32,
            n_clusters=24,
        )
        assert found.plain() == {
            name: getattr(found, name) for name in ("value", "ci", "t_ci", "p", "p_t", "n", "n_clusters", "exact")
        }

    def test_the_whole_result_of_few_videos(self):
        # Sums 1, 0, 1: two of the four patterns of signs are as far from zero, and three videos reject nothing.
        found = paired_difference(self.A, self.B, self.VIDEOS)
        assert found == Difference(0.5, [-1.0, 1.0], [-1.0, 1.0], 0.5, 0.5, n=4, n_clusters=3, exact=True)

    def test_nothing_shared_and_one_video(self):
        nothing = Difference(None, None, None, None, None, 0, 0)
        assert paired_difference(credits(NAN, 1), credits(1, NAN), ["u", "v"]) == nothing
        one_video = Difference(0.5, None, None, None, None, 2, 1)
        assert paired_difference(credits(1, 1), credits(0, 1), ["u", "u"]) == one_video

    def test_two_videos_have_an_interval(self):
        found = paired_difference(credits(1, 1), credits(0, 1), ["u", "v"], draws=50)
        assert (found.n_clusters, found.ci) == (2, [-1.0, 1.0])

    def test_a_difference_without_any_spread_is_as_sure_as_its_items_are_many(self):
        for n, p in ((2, 0.5), (4, 0.125), (5, 0.0625), (6, 0.03125), (30, 2.0**-29)):
            found = paired_difference(np.ones(n), np.zeros(n), None, draws=50)
            assert (found.p, found.p_t, found.exact) == (p, p, True)
            assert found.p == mcnemar(np.ones(n), np.zeros(n)).p
            # 1 - .025^(1/n) of all items may still go the other way.
            assert found.ci == found.t_ci == pytest.approx([1 - 2 * (1 - 0.025 ** (1 / n)), 1.0])
            assert (found.ci[0] > 0) == (p < ALPHA)
        assert 0 < paired_difference(np.ones(2000), np.zeros(2000), None, draws=50).p < 1e-300

    def test_draws_at_zero_count_in_both_tails_and_p_is_at_most_one(self):
        # Two at or below zero of 4, three at or above: 2 (1 + 2) / 5, which is more than one.
        assert bootstrap_p(credits(-1, 0, 1, 1)) == 1.0
        assert bootstrap_p(credits(1e-13, 1, 1, 1, 1, 1, 1)) == pytest.approx(2 * 2 / 8)
        assert bootstrap_p(credits(-1e-13, -1, -1, -1, -1, -1, -1)) == pytest.approx(2 * 2 / 8)
        assert bootstrap_p(credits(*[1] * 39)) == pytest.approx(2 / 40)

    def test_rounding_noise_counts_as_zero(self):
        sides = credits(NOTHING, *[1] * 6), credits(-NOTHING, *[-1] * 6)
        assert [bootstrap_p(drawn) for drawn in sides] == [0.5, 0.5]
        assert (_t_test(NOTHING, 1e-14, 5), _t_test(-NOTHING, 0.0, 5)) == (1.0, 1.0)

    def test_videos_are_named_for_every_item_or_none(self):
        for asked in (paired_difference, items_to_separate):
            with pytest.raises(ValueError, match="argument 2 is longer"):
                asked(credits(0, 1, 1), credits(1, 1, 0), ["u", "v"])


class TestMcNemar:
    def test_the_whole_result(self):
        #           both  a  b  b  none part part  NaN  NaN
        a = credits(1, 1, 0, 0, 0, 0.5, 1, NAN, 1)
        b = credits(1, 0, 1, 1, 0, 1, 0.5, 1, NAN)
        found = mcnemar(a, b)
        # 1 against 2: 2 (1 + 3) / 8 = 1.
        assert found == McNemar(both=1, only_a=1, only_b=2, neither=1, p=1.0, n_partial=2)
        assert found.plain() == {"both": 1, "only_a": 1, "only_b": 2, "neither": 1, "p": 1.0, "n_partial": 2}

    def test_one_sided_answers(self):
        # 0 against 6: 2 / 64.
        found = mcnemar(credits(*[0] * 6), credits(*[1] * 6))
        assert found == McNemar(0, 0, 6, 0, pytest.approx(2 / 64), 0)
        assert mcnemar(credits(1, 0), credits(1, 0)).p == 1.0


class TestManyModels:
    def test_models_of_the_same_items_are_tested_in_one_product_and_others_one_by_one(self):
        credit = np.tile(np.array([[1, 0, 1, 1.0], [0, 0, 1, 0], [1, 1, 0, NAN], [0, 1, 0, 0]]), 8)
        videos = np.array([3 * k + place for k in range(8) for place in (0, 1, 2, 2)])
        found = _tests_on_shared_items(credit, videos)
        assert set(found) == {(0, 1), (0, 3), (1, 3)}
        plain = paired_difference(credit[0], credit[3], videos.tolist(), draws=10).p_t
        assert found[0, 3] == pytest.approx(plain)

    def test_pairs_with_a_lost_spread_are_left_to_the_exact_sum(self):
        videos, two = np.arange(20), np.zeros((2, 20))
        two[0, 0] = 1.0
        assert _tests_on_shared_items(two[:1], videos) == {}
        # Few videos are tested exactly.
        assert _tests_on_shared_items(two, np.minimum(videos, 18)) == {}
        assert _tests_on_shared_items(np.full((2, 20), NAN), videos) == {}
        # The same answers twice: no spread is left.
        assert _tests_on_shared_items(two[[0, 0]], videos) == {}
        assert set(_tests_on_shared_items(two, videos)) == {(0, 1)}

    def test_one_shared_video_separates_no_models(self):
        assert pairwise_tests(np.array([[1.0, 1.0], [0.0, 0.0]]), ["u", "u"]).tolist() == [[1, 1], [1, 1]]
        apart = np.array([[1.0, 1.0, NAN], [0.0, 0.0, 1.0]])
        assert pairwise_tests(apart, ["u", "u", "v"])[0, 1] == 1.0
        # Two items, both of them the first model's.
        assert pairwise_tests(apart, None)[0, 1] == 0.5

    def test_a_model_is_tied_at_the_line_itself(self):
        p = np.array([[1, 0.05], [0.05, 1]])
        assert (tied_groups(p), tied_groups(p, alpha=0.06), tied_groups(p, alpha=0.05)) == ([1, 1], [1, 2], [1, 1])
        assert tied_groups(np.array([[1, 0.0, 0.0], [0.0, 1, 0.0], [0.0, 0.0, 1]])) == [1, 2, 3]


class TestPower:
    A, B = credits(1, 1, 0, 1, 0, 1, NAN), credits(0, 1, 0, 0, 1, 1, 1)

    def needed(self, error: float, alpha: float, power: float) -> float:
        return np.ceil(6 * ((stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)) * error * 6) ** 2)

    def test_the_level_and_the_power_are_those_asked_for(self):
        error = np.sqrt((3 - 1 / 6) * 6 / 5) / 6
        assert items_to_separate(self.A, self.B, None) == self.needed(error, 0.05, 0.8)
        assert items_to_separate(self.A, self.B, None, alpha=0.1, power=0.5) == self.needed(error, 0.1, 0.5)

    def test_whole_videos_count(self):
        # u: 1 of 2, v: 1 of 2, w: -1 of 2; mean 1/6, residuals 2/3, 2/3, -4/3.
        error = np.sqrt((4 / 9 + 4 / 9 + 16 / 9) * 3 / 2) / 6
        assert items_to_separate(self.A, self.B, list("uuvvwwx")) == self.needed(error, 0.05, 0.8)

    def test_it_is_at_least_what_the_exact_test_needs_and_none_if_undefined(self):
        # 2 / 2^6 is below .05; of two items a video twelve.
        assert items_to_separate(credits(1, 1, 1), credits(0, 0, 0), None) == 6
        assert items_to_separate(np.ones(4), np.zeros(4), list("uuvv")) == 12
        assert items_to_separate(np.ones(4), np.zeros(4), None, alpha=0.2) == 4
        assert items_to_separate(credits(1, 1), credits(0, 1), ["u", "u"]) is None
        assert items_to_separate(credits(1, 0), credits(0, 1), None) is None
        assert items_to_separate(credits(1, NAN), credits(NAN, 0), ["u", "v"]) is None
        assert items_to_separate(credits(1, 1), credits(0, 1), ["u", "v"]) is not None


class TestRanking:
    VIDEOS = list("uvwxyz")

    def model(self, key, main, proficiency, **group):
        return ModelScores(key, credits(*main), credits(*proficiency), group)

    def models(self):
        return [
            self.model("low", (0, 0, 0, 1, 0, 0), (0, 1, 1, 1, NAN, NAN), T=1 / 4, P=3 / 4, **{"P+T": 1 / 4}),
            self.model("top", (1, 1, 1, 1, 0, 0), (1, 0, 1, 1, NAN, NAN), T=1.0, P=3 / 4, **{"P+T": 3 / 4}),
            ModelScores("none", np.full(6, NAN), np.full(6, NAN), None),
            self.model("half", (1,) * 6, (NAN,) * 6, T=None, P=None, **{"P+T": None}),
        ]

    def test_the_whole_column(self):
        low, top, _none, _half = self.models()
        credit = np.array([[1, 1, 1, 1, NAN, NAN], [0, 0, 0, 1, NAN, NAN]])
        assert ranking(self.models(), self.VIDEOS, "T") == {
            "column": "T",
            "rows": [
                {"key": "top", "value": 1.0, "place": 1, "group": 1, "p_best": None},
                {
                    "key": "low",
                    "value": 0.25,
                    "place": 1,
                    "group": 1,
                    "p_best": pytest.approx(pairwise_tests(credit, self.VIDEOS)[0, 1]),
                },
                {"key": "none", "value": None, "place": None, "group": None, "p_best": None},
                {"key": "half", "value": None, "place": None, "group": None, "p_best": None},
            ],
            "alpha": ALPHA,
            "n_tests": 1,
            "items_to_separate": items_to_separate(credit[0], credit[1], self.VIDEOS),
        }
        assert scoped_credit(top, "T", np.ones(6, dtype=bool)).tolist()[:4] == [1, 1, 1, 1]
        assert np.isnan(scoped_credit(low, "T", np.ones(6, dtype=bool))[4:]).all()

    def test_each_column_has_its_credit(self):
        low, top, _none, half = self.models()
        assert column_credit(top, "T") is top.main
        assert column_credit(top, "P") is top.proficiency
        assert column_credit(low, "P+T").tolist()[:4] == [0, 0, 0, 1]
        # Over items of which none has a proficiency pair, T stands over all.
        last = np.array([False] * 4 + [True] * 2)
        assert scoped_credit(top, "T", last).tolist() == [0, 0]
        assert scoped_credit(half, "T", np.ones(6, dtype=bool)).tolist() == [1] * 6
        assert default_column([None, half.group, top.group]) == "P+T"
        assert default_column([None, half.group]) == default_column([]) == "T"

    def test_tied_models_are_in_the_order_of_their_names(self):
        found = ranking(self.models(), self.VIDEOS, "P")
        assert [row["key"] for row in found["rows"][:2]] == ["low", "top"]
        assert found["rows"][1]["p_best"] == 1.0
        assert found["items_to_separate"] is None

    def test_a_scope_takes_items_and_their_videos(self):
        scope = np.array([True, True, True, False, False, False])
        found = ranking(self.models(), ["u", "u", "v", "v", "w", "w"], "T", scope)
        credit = np.array([[1, 1, 1], [0, 0, 0.0]])
        assert found["rows"][1]["p_best"] == pairwise_tests(credit, ["u", "u", "v"])[0, 1] == 0.5
        assert found["rows"][1]["place"] == 1
        assert found["items_to_separate"] == items_to_separate(credit[0], credit[1], ["u", "u", "v"]) == 9

    def test_every_item_has_a_video_and_a_place_in_the_scope(self):
        with pytest.raises(ValueError, match="argument 2 is longer"):
            ranking([], ["u"], "T", np.array([True, False]))

    def test_an_unknown_column_is_named(self):
        with pytest.raises(EvaluationError, match=r"^unknown column 'X'; choose one of: P\+T, T, P$"):
            ranking([], [], "X")
