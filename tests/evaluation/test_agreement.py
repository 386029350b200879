"""Agreement by hand, and against two other implementations."""

from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from evaluation.analyses import agreement, position
from evaluation.analyses.agreement_data import _alpha_from_sums, _alpha_parts, alpha, fleiss_kappa, percent_agreement
from evaluation.analyses.analysis_inputs import Votes
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import percentiles, resampled_sums
from tests.evaluation.builders import votes_of

DRAWS = 500
# Four units of three votes: c c c, c c f, f f c, f f f.
FOUR = np.array([[3, 0], [2, 1], [1, 2], [0, 3]])


def test_alpha_kappa_and_percent_agreement_by_hand():
    # D_o: two units with (9 - (4 + 1)) / 2 = 2 each. D_e: (12^2 - 6^2 - 6^2) / 11 = 72 / 11. alpha = 1 - 4 * 11 / 72.
    assert alpha(FOUR, draws=DRAWS).value == pytest.approx(1 - 44 / 72)
    # P_i = 1, 1/3, 1/3, 1; P_e = 1/2.
    assert percent_agreement(FOUR) == pytest.approx(2 / 3)
    assert fleiss_kappa(FOUR) == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))


def test_unanimous_draws_are_counted():
    """Thirty units of three votes, one of them with a dissent: (29/30)^30 of the draws do not hold it."""
    counts = np.array([[3, 0]] * 29 + [[2, 1]])
    found = alpha(counts)
    assert found.undefined == pytest.approx((29 / 30) ** 30, abs=0.02)
    assert found.interval[1] == pytest.approx(found.value, abs=0.05)
    assert alpha(FOUR, draws=DRAWS).undefined < 0.05
    assert alpha(FOUR[:0]).undefined is None
    html = render_to_string("evaluation/_undefined_draws.html", {"share": found.undefined})
    assert f"undefined in {100 * found.undefined:.1f} % of the bootstrap samples" in html


def test_krippendorffs_own_example():
    # Nominal alpha .743 with missing data (Krippendorff 2011, Sec. C).
    nan = np.nan
    data = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    table = np.array([[sum(row[unit] == value for row in data) for value in range(1, 6)] for unit in range(12)])
    assert alpha(table, draws=DRAWS).value == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Two observers, binary: alpha .095 (Krippendorff 2011, Sec. A).
        ("0100000010", "1110010000", 0.095),
        # Two observers, five categories: alpha .692 (Krippendorff 2011, Sec. B).
        ("aabbdcccedda", "babbbccceddd", 0.692),
    ],
)
def test_krippendorffs_examples_of_two_observers(first, second, expected):
    categories = sorted({*first, *second})
    table = np.array([[pair.count(each) for each in categories] for pair in zip(first, second, strict=True)])
    assert alpha(table, draws=DRAWS).value == pytest.approx(expected, abs=5e-4)


tables = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=15)


@settings(max_examples=80, deadline=None)
@given(tables)
def test_the_bootstrapped_statistic_equals_the_packages_alpha(rows):
    counts = np.array(rows)
    found = alpha(counts, interval=False)
    if found.value is None:
        assert found.reason
        return
    used = counts[counts.sum(axis=1) >= 2]
    expected = krippendorff.alpha(value_counts=used, level_of_measurement="nominal")
    sums = _alpha_parts(used).sum(axis=0, keepdims=True)
    assert found.value == pytest.approx(expected)
    assert _alpha_from_sums(sums)[0] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.permutations([0, 1, 2]), min_size=1, max_size=10), st.integers(1, 5))
def test_kappa_is_statsmodels_kappa(rows, unanimous):
    counts = np.array([*rows, *[[3, 0, 0]] * unanimous])
    assert fleiss_kappa(counts) == pytest.approx(statsmodels_kappa(counts))


def test_units_with_one_vote_say_nothing():
    with_singles = np.vstack([FOUR, [[1, 0]] * 50])
    assert alpha(with_singles, draws=DRAWS) == alpha(FOUR, draws=DRAWS)
    assert fleiss_kappa(with_singles) == fleiss_kappa(FOUR)


@pytest.mark.parametrize(
    ("counts", "why"), [([[1, 0], [0, 1]], "no unit has two votes"), ([[3, 0], [3, 0]], "one category")]
)
def test_an_undefined_alpha_is_explained(counts, why):
    found = alpha(np.array(counts))
    assert found.value is None
    assert found.interval is None
    assert why in found.reason
    assert fleiss_kappa(np.array(counts)) is None


VOTES = votes_of(
    ("x", "ann", "caption", 1),
    ("x", "bob", "caption", 2),
    ("x", "cy", "foil", 1),
    ("y", "ann", "foil", 2),
    ("y", "bob", "foil", 1),
    ("y", "cy", "neither", 1),
)


def test_codings_by_hand():
    truth = agreement.compute(VOTES, draws=DRAWS)
    assert truth["coding"] == "truth"
    assert truth["choices"] == {"caption": 2, "foil": 3, "neither": 1, "both": 0, "cannot_tell": 0}
    # Each unit: one agreeing pair of three.
    assert truth["percent_agreement"] == pytest.approx(1 / 3)
    # D_o = 2 + 2; counts 2, 3, 1 of 6: D_e = (36 - 14) / 5; alpha = 1 - 4 * 5 / 22.
    assert truth["alpha"] == pytest.approx(1 - 20 / 22)
    # Places shown: x: first, second, second; y: first, second, neither. D_o = 2 + 3, counts 2, 3, 1.
    shown = agreement.compute(VOTES, coding="shown", draws=DRAWS)
    assert shown["choices"] == {"first": 2, "second": 3, "neither": 1, "both": 0, "cannot_tell": 0}
    assert shown["alpha"] == pytest.approx(1 - 5 * 5 / 22)
    three = agreement.compute(VOTES, coding="truth3", draws=DRAWS)
    assert three["choices"] == {"caption": 2, "foil": 3, "other": 1}
    assert (three["n_items"], three["n_votes"]) == (2, 6)


def test_pairs_and_annotators_by_hand():
    got = agreement.compute(VOTES, draws=DRAWS)
    assert got["pairs"] == [
        {"annotators": ["ann", "bob"], "n": 2, "agreement": 1.0},
        {"annotators": ["ann", "cy"], "n": 2, "agreement": 0.0},
        {"annotators": ["bob", "cy"], "n": 2, "agreement": 0.0},
    ]
    # The others of cy agree twice, and cy never with them; ann's and bob's others never agree.
    by_name = {row["annotator"]: (row["n"], row["agreement"]) for row in got["annotators"]}
    assert by_name == {"ann": (0, None), "bob": (0, None), "cy": (2, 0.0)}


def test_votes_that_do_not_support_a_coding_name_one_they_support():
    with pytest.raises(EvaluationError, match="truth3"):
        agreement.compute(votes_of(("x", "a", "other", 0), ("x", "b", "caption", 0)))
    with pytest.raises(EvaluationError, match="position"):
        agreement.compute(votes_of(("x", "a", "foil", 0), ("x", "b", "caption", 1)), coding="shown")
    with pytest.raises(EvaluationError, match="unknown coding 'raw'"):
        agreement.compute(VOTES, coding="raw")


def test_position_bias_by_hand():
    got = position.compute(VOTES, draws=DRAWS)
    # One-sided votes: first, second, second, first, second.
    assert (got["first_share"], got["n"]) == (2 / 5, 5)
    assert got["caption_first_share"] == 4 / 6
    assert {row["annotator"]: row["first_share"] for row in got["annotators"]} == {"ann": 1, "bob": 0, "cy": 0}


class _Counting:
    """A generator that only draws how often each distinct tally comes, and counts the numbers that it drew."""

    def __init__(self, seed):
        self.generator, self.drawn = np.random.Generator(np.random.PCG64(seed)), 0

    def multinomial(self, count, shares, size):
        self.drawn += size * len(shares)
        return self.generator.multinomial(count, shares, size=size)


def test_an_interval_over_a_whole_benchmark_draws_tallies_and_not_items(monkeypatch):
    counts = np.random.default_rng(0).multinomial(3, [0.6, 0.2, 0.1, 0.05, 0.05], size=8460)
    made = []
    monkeypatch.setattr(np.random, "default_rng", lambda seed: made.append(_Counting(seed)) or made[-1])
    found = alpha(counts, draws=10_000)
    # Three votes for five answers make at most 35 tallies.
    assert 0 < sum(each.drawn for each in made) <= 35 * 10_000
    assert found.interval[0] < found.value < found.interval[1]


class TestItemsOfSeveralPairs:
    """24 items of three pairs. What was voted on one pair of an item was voted on all: it holds a third of the news."""

    GENERATOR = np.random.default_rng(4)
    OF_ITEMS = GENERATOR.multinomial(3, [0.6, 0.4], size=24)
    COUNTS, ITEMS = np.repeat(OF_ITEMS, 3, axis=0), np.repeat(np.arange(24), 3)

    def votes(self):
        choices = [choice for row in self.COUNTS for choice in np.repeat([0, 1], row)]
        unit = np.repeat(np.arange(72), 3)
        names = [str(number) for number in range(72)]
        columns = (unit, np.tile(np.arange(3), 72), np.array(choices), np.ones(216, int))
        return Votes(*columns, names, ["a", "b", "c"], self.ITEMS)

    def test_the_interval_of_alpha_is_of_items_drawn_with_all_their_pairs(self):
        found = alpha(self.COUNTS, self.ITEMS, draws=4000)
        generator, drawn = np.random.default_rng(9), []
        for _ in range(1500):
            rows = self.COUNTS.reshape(24, 3, 2)[generator.integers(0, 24, 24)].reshape(72, 2)
            drawn.append(alpha(rows, interval=False).value)
        assert found.interval == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.05)
        assert found.value == alpha(self.COUNTS).value
        # By pairs it would seem to be known nearly the root of three times as well.
        assert np.ptp(found.interval) > 1.5 * np.ptp(alpha(self.COUNTS, draws=4000).interval)

    def test_item_codes_are_names_without_an_order(self):
        order = np.random.default_rng(5).permutation(72)
        other = alpha(self.COUNTS[order], 1000 - self.ITEMS[order], draws=DRAWS)
        assert other == alpha(self.COUNTS, self.ITEMS, draws=DRAWS)

    def test_a_pair_with_one_vote_is_left_out(self):
        counts, items = np.vstack([[[1, 0]], self.COUNTS]), np.concatenate([[99], self.ITEMS])
        assert alpha(counts, items, draws=DRAWS) == alpha(self.COUNTS, self.ITEMS, draws=DRAWS)

    def test_with_one_pair_per_item_the_draws_do_not_change(self):
        assert alpha(self.COUNTS, np.arange(72), draws=DRAWS) == alpha(self.COUNTS, draws=DRAWS)

    def test_reports_draw_items(self):
        votes = self.votes()
        assert agreement.compute(votes, draws=DRAWS)["alpha_ci"] == pytest.approx(
            alpha(self.COUNTS, self.ITEMS, draws=DRAWS).interval
        )
        told = replace(votes, guideline=np.repeat([0, 1], 108), guideline_names=["v1", "v2"])
        first, second = agreement.compute(told, draws=DRAWS)["guidelines"]
        assert first["alpha_ci"] == alpha(self.COUNTS[:36], self.ITEMS[:36], draws=DRAWS).interval
        assert second["alpha_ci"] == alpha(self.COUNTS[36:], self.ITEMS[36:], draws=DRAWS).interval

    def test_position_bias_draws_items_too(self):
        # The caption stood first throughout, so the share of "first" is that of captions.
        found = position.compute(self.votes(), draws=DRAWS)
        by_items = np.column_stack([self.OF_ITEMS[:, 0] * 3, np.full(24, 9)]).astype(float)
        drawn = resampled_sums(by_items, draws=DRAWS)
        assert found["ci"] == pytest.approx(percentiles(drawn[:, 0] / drawn[:, 1]))
        assert found["n"] == 216

    def test_one_item_has_no_interval_however_many_its_pairs(self):
        assert alpha(FOUR, np.zeros(4, int), draws=DRAWS).interval is None


def test_agreement_is_split_by_the_guideline_version_of_the_voters():
    # Two units of four votes. Under v1 both pairs of voters agree (u: caption, caption; w: foil, foil): alpha 1.
    # Under v2 both disagree (u: caption, foil; w: foil, caption): D_o = 1, D_e = (2*2*2)/(4*3) = 2/3, alpha = -1/2.
    units, choices = [0, 0, 1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 1, 1, 0]
    told = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    names, people = np.arange(8), [f"p{n}" for n in range(8)]
    columns = (np.array(units), names, np.array(choices), np.zeros(8, int))
    votes = Votes(*columns, ["u", "w"], people, np.arange(2), guideline=told, guideline_names=["v1", "v2"])
    first, second = agreement.compute(votes)["guidelines"]
    assert (first["guideline"], first["alpha"], first["percent_agreement"], first["n_votes"]) == ("v1", 1.0, 1.0, 4)
    assert (second["guideline"], second["percent_agreement"], second["n_units_used"]) == ("v2", 0.0, 2)
    assert second["alpha"] == pytest.approx(-0.5)


def test_one_version_for_all_gives_no_split():
    votes = Votes(*(np.zeros(2, int),) * 4, ["u"], ["p"], np.zeros(1, int), np.zeros(2, int), ["v1"])
    assert agreement.compute(votes)["guidelines"] == []
