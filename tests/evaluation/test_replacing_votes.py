"""The alternative annotator test and corrected shares: by hand, against other code, and over simulated projects."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.alternative_annotator import (
    advantage_p,
    alternative_annotator,
    benjamini_yekutieli,
)
from evaluation.metrics.intervals import wilson
from evaluation.metrics.prediction_powered import corrected_share, tuned_weight
from evaluation.reports.forms import ReportForm
from tests.factories import make_project


def crowd(rng, units: int, people: int, right: float, categories: int = 3):
    """Return (unit, annotator, choice, truth) of people who are right with the given probability."""
    truth = rng.integers(categories, size=units)
    table = np.where(
        rng.random((units, people)) < right, truth[:, None], rng.integers(categories, size=(units, people))
    )
    unit, annotator = np.indices(table.shape)
    return unit.ravel(), annotator.ravel(), table.ravel(), truth


def by_scipy(unit, annotator, choice, model, epsilon):
    """Compute winning rate and advantage from dictionaries, as the paper writes them down, with scipy's own tests."""
    people = {}
    for i, j, c in zip(unit.tolist(), annotator.tolist(), choice.tolist(), strict=True):
        people.setdefault(j, {})[i] = c
    ps, advantages = [], []
    for j, own in people.items():
        wins, losses = [], []
        for i, c in own.items():
            others = [said[i] for k, said in people.items() if k != j and i in said]
            if not others:
                continue
            model_score = np.mean([model[i] == other for other in others])
            person_score = np.mean([c == other for other in others])
            wins.append(float(model_score >= person_score))
            losses.append(float(person_score >= model_score))
        ps.append(stats.ttest_1samp(np.subtract(losses, wins), epsilon, alternative="less").pvalue)
        advantages.append(np.mean(wins))
    return float((stats.false_discovery_control(ps, method="by") <= 0.05).mean()), float(np.mean(advantages))


@pytest.mark.parametrize("seed", range(20))
def test_the_test_equals_an_independent_implementation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit, annotator, choice, truth = crowd(rng, 120, 5, 0.7)
    kept = rng.random(len(unit)) < 0.8
    unit, annotator, choice = unit[kept], annotator[kept], choice[kept]
    model = np.where(rng.random(120) < rng.uniform(0.3, 0.9), truth, rng.integers(3, size=120))
    found = alternative_annotator(unit, annotator, choice, model, epsilon=0.15)
    rate, advantage = by_scipy(unit, annotator, choice, model, 0.15)
    assert found.winning_rate == pytest.approx(rate)
    assert found.advantage == pytest.approx(advantage)


def test_a_model_against_three_votes_by_hand() -> None:
    # Person 0 says 0, 1; persons 1 and 2 say 0, 0. The model says 0, 0.
    unit, annotator = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])
    choice = np.array([0, 0, 0, 1, 0, 0])
    found = alternative_annotator(unit, annotator, choice, np.array([0, 0]), min_units=2)
    assert [(row.model, row.person) for row in found.comparisons] == [(1.0, 0.5), (1.0, 1.0), (1.0, 1.0)]
    assert found.advantage == 1.0


def test_a_good_model_passes_and_a_guesser_fails() -> None:
    rng = np.random.default_rng(0)
    unit, annotator, choice, truth = crowd(rng, 200, 3, 0.8)
    good = alternative_annotator(unit, annotator, choice, truth)
    bad = alternative_annotator(unit, annotator, choice, rng.integers(3, size=200))
    assert (good.passes, good.winning_rate) == (True, 1.0)
    assert (bad.passes, bad.winning_rate) == (False, 0.0)


def test_few_units_give_no_answer_and_nameless_votes_are_others_only() -> None:
    unit, choice = np.repeat(np.arange(40), 2), np.zeros(80, dtype=np.int64)
    annotator = np.tile([0, -1], 40)
    found = alternative_annotator(unit, annotator, choice, np.zeros(40, dtype=np.int64))
    assert [row.n for row in found.comparisons] == [40]
    few = alternative_annotator(unit[:40], annotator[:40], choice[:40], np.zeros(40, dtype=np.int64))
    assert (few.winning_rate, few.passes, few.skipped) == (None, None, 1)


def test_p_without_spread_is_the_bound_of_unseen_losses() -> None:
    assert advantage_p(np.zeros(30), 0.1) == pytest.approx(0.9**30)
    assert advantage_p(np.zeros(30), 0.0) == 1.0
    assert advantage_p(np.ones(30), 0.1) == 1.0
    gaps = np.array([0.0, 1.0, 0.0, -1.0, 0.0])
    assert advantage_p(gaps, 0.2) == pytest.approx(stats.ttest_1samp(gaps, 0.2, alternative="less").pvalue)


def test_benjamini_and_yekutieli_by_hand() -> None:
    assert benjamini_yekutieli([]) == []
    assert benjamini_yekutieli([0.01, 0.02, 0.9]) == [False, False, False]
    # The second limit is .05 * 2 / (3 * 11/6) = .0182, so the first is rejected with it.
    assert benjamini_yekutieli([0.018, 0.9, 0.015]) == [True, False, True]


def test_the_weight_of_a_perfect_model_and_what_it_saves() -> None:
    truth, others = np.array([1.0] * 70 + [0.0] * 30), np.array([1.0] * 210 + [0.0] * 90)
    found = corrected_share(truth, truth, others)
    # 1 / (1 + 100 / 300), and the variance is v / 400.
    assert found.weight == pytest.approx(0.75, rel=0.01)
    assert found.value == pytest.approx(0.7)
    assert found.worth == pytest.approx(400, rel=0.01)


def test_without_others_the_estimate_is_that_of_the_judged_items() -> None:
    truth = np.array([1.0] * 8 + [0.0] * 2)
    found = corrected_share(truth, truth, np.zeros(0))
    assert (found.value, found.weight, found.worth) == (0.8, 0.0, 10.0)
    assert found.ci == pytest.approx(wilson(8, 10), abs=0.02)
    all_valid = corrected_share(np.ones(10), np.ones(10), np.ones(90))
    assert all_valid.ci == pytest.approx(wilson(10, 10))
    assert tuned_weight(truth, np.ones(10), 50) == 0.0


SEEDS = 1000


def simulated(share: float, hit: float, false_alarm: float, n: int = 120, every: int = 1000):
    """Return 1,000 projects' estimates: a judge that says valid of valid and invalid items with these rates."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(SEEDS):
        truth = (rng.random(every) < share).astype(float)
        said = (rng.random(every) < np.where(truth == 1, hit, false_alarm)).astype(float)
        found.append(corrected_share(truth[:n], said[:n], said[n:]))
    return found


@pytest.mark.parametrize(("share", "hit", "false_alarm"), [(0.8, 0.95, 0.3), (0.8, 0.6, 0.1), (0.92, 0.9, 0.5)])
def test_corrected_shares_of_biased_judges_cover_the_truth(share: float, hit: float, false_alarm: float) -> None:
    found = simulated(share, hit, false_alarm)
    covered = np.mean([one.ci[0] <= share <= one.ci[1] for one in found])
    assert 0.93 <= covered <= 0.975
    assert np.mean([one.value for one in found]) == pytest.approx(share, abs=0.004)
    # The judge alone is wrong by more than that.
    assert abs(np.mean([one.uncorrected for one in found]) - share) > 0.02


def test_a_useless_judge_saves_nothing_and_a_good_one_saves_what_arithmetic_says() -> None:
    useless = simulated(0.8, 0.5, 0.5)
    assert np.median([one.worth for one in useless]) == pytest.approx(120, rel=0.02)
    good = simulated(0.8, 0.98, 0.08)
    # Var = v (1 - r^2 N / (n + N)) / n for a judge whose correlation with the truth is r.
    said = 0.8 * 0.98 + 0.2 * 0.08
    r2 = (0.8 * 0.98 - 0.8 * said) ** 2 / (0.16 * said * (1 - said))
    assert np.median([one.worth for one in good]) == pytest.approx(120 / (1 - r2 * 0.88), rel=0.1)


def test_an_epsilon_of_zero_is_not_replaced_by_the_default(db):
    project = make_project()
    assert ReportForm(project, "replace", {"epsilon": "0"}).chosen() == ("", {"coding": "truth", "epsilon": 0.0})
    assert ReportForm(project, "replace", {"epsilon": ""}).chosen() == ("", {"coding": "truth"})
    assert ReportForm(project, "filters", {}).chosen() == ("", {})
