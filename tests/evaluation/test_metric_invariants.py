"""What must hold for every metric whatever the scores (Hypothesis), all of them at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import mc, pairwise, rcad, retrieval
from evaluation.metrics.intervals import bootstrap, resampled_sums
from evaluation.metrics.ties import POLICIES
from tests.evaluation.builders import choice_scores, pair_scores

DRAWS = 50
quick = settings(max_examples=40, deadline=None)
# Few distinct values, so that ties are common; exact in floating point, so that transforms below are too.
values = st.integers(-4, 4).map(float)
policies = st.sampled_from(POLICIES)
widths = st.integers(2, 6)
ragged = st.lists(widths.flatmap(lambda w: st.lists(values, min_size=w, max_size=w)), min_size=1, max_size=12)
pairs = st.lists(st.tuples(values, values), min_size=1, max_size=12)


def all_metrics(scores, policy, names=None):
    """Every metric over the same records: proficiency mirrors main; retrieval takes a square of the first column."""
    names = names or [f"c{n}" for n in range(len(scores))]
    column = np.array([row[0] for row in scores])
    sim = column[:, None] * np.array([row[1] for row in scores])[None, :]
    mirrored = [row[::-1] for row in scores]
    return {
        "pairwise": pairwise.compute(pair_scores(scores, mirrored, clusters=names), ties=policy, draws=DRAWS),
        "rcad": rcad.compute(choice_scores(scores, clusters=names), ties=policy, draws=DRAWS),
        "mc": mc.compute(choice_scores(scores, clusters=names), ties=policy, draws=DRAWS),
        "retrieval": retrieval.compute(sim, ties="half" if policy == "first" else policy, draws=DRAWS),
    }


@quick
@given(ragged, policies, st.randoms(use_true_random=False))
def test_the_order_of_the_records_changes_nothing(scores, policy, random):
    names = [f"c{n % 3}" for n in range(len(scores))]
    order = list(range(len(scores)))
    random.shuffle(order)
    shuffled = all_metrics([scores[n] for n in order], policy, [names[n] for n in order])
    assert shuffled == all_metrics(scores, policy, names)


@quick
@given(ragged, policies)
def test_a_rising_transform_of_all_scores_changes_nothing(scores, policy):
    def rising(rows):
        return [[value**3 / 8 + 2 * value - 7 for value in row] for row in rows]

    for metric in (mc, rcad):
        before = metric.compute(choice_scores(scores), ties=policy, draws=DRAWS)
        assert metric.compute(choice_scores(rising(scores)), ties=policy, draws=DRAWS) == before
    before = pairwise.compute(pair_scores(scores, scores[::-1]), ties=policy, draws=DRAWS)
    after = pairwise.compute(pair_scores(rising(scores), rising(scores[::-1])), ties=policy, draws=DRAWS)
    assert after == before


@quick
@given(st.lists(widths, min_size=1, max_size=12), st.lists(widths, min_size=12, max_size=12), values)
def test_a_constant_model_is_at_chance_under_half(sizes, other_sizes, value):
    scores = [[value] * size for size in sizes]
    simpler = [[value] * size for size in other_sizes[: len(sizes)]]
    overall = pairwise.compute(pair_scores(scores, simpler), draws=DRAWS)["overall"]
    for name in ("T", "P", "P+T"):
        assert overall[name] == pytest.approx(overall["chance"][name])
    assert overall["ties"] == 1
    chosen = mc.compute(choice_scores(scores), draws=DRAWS)
    assert chosen["accuracy"] == pytest.approx(chosen["chance"])
    ranked = rcad.compute(choice_scores(scores), draws=DRAWS)
    assert ranked["mean_rank"] == pytest.approx(sum((size + 1) / 2 for size in sizes) / len(sizes))
    for cut in ("R@1", "R@2", "R@3"):
        assert ranked[cut] == pytest.approx(ranked["chance"][cut])
    flat = retrieval.compute(np.full((len(sizes), len(sizes)), value), draws=DRAWS)
    assert flat["t2v"]["R@1"] == pytest.approx(1 / len(sizes))


@quick
@given(pairs)
def test_swapping_caption_and_foil_gives_the_complement(scores):
    straight = pairwise.compute(pair_scores([list(pair) for pair in scores]), draws=DRAWS)["overall"]["T"]
    swapped = pairwise.compute(pair_scores([[foil, caption] for caption, foil in scores]), draws=DRAWS)["overall"]["T"]
    assert swapped == pytest.approx(1 - straight)


@quick
@given(ragged)
def test_policies_are_ordered_by_strictness(scores):
    def accuracy(policy):
        return mc.compute(choice_scores(scores), ties=policy, draws=DRAWS)["accuracy"]

    assert accuracy("strict") <= accuracy("half") <= accuracy("optimistic")
    assert accuracy("strict") <= accuracy("first") <= accuracy("optimistic")


@quick
@given(ragged, policies)
def test_shares_are_shares_and_intervals_hold_what_bootstrap_draws_can_give(scores, policy):
    got = all_metrics(scores, policy)
    overall = got["pairwise"]["overall"]
    assert 0 <= overall["P+T"] <= min(overall["P"], overall["T"]) <= 1
    assert got["rcad"]["R@1"] <= got["rcad"]["R@2"] <= got["rcad"]["R@3"] <= 1
    assert got["rcad"]["R@1"] == pytest.approx(got["mc"]["accuracy"])
    if overall["T_ci"]:
        assert 0 <= overall["T_ci"][0] <= overall["T_ci"][1] <= 1


def test_both_ways_of_drawing_agree_on_a_known_error():
    # A mean of 400 shares with p = .3 has the error sqrt(.21 / 400) = .0229, however the draws are made.
    flags = np.repeat([[1.0], [0.0]], [120, 280], axis=0)
    jittered = flags + np.linspace(0, 1e-6, 400)[:, None]  # all rows differ: the other way of drawing
    for rows in (flags, jittered):
        drawn = resampled_sums(rows, draws=4000)[:, 0] / 400
        assert drawn.std() == pytest.approx(np.sqrt(0.21 / 400), rel=0.05)
        assert drawn.mean() == pytest.approx(0.3, abs=0.002)


def test_draws_come_in_blocks_of_bounded_size(monkeypatch):
    from evaluation.metrics import intervals as _intervals

    rows = np.random.default_rng(0).normal(size=(300, 2))
    whole = bootstrap(rows, lambda sums: sums[:, 0], draws=500)
    monkeypatch.setattr(_intervals, "BLOCK_BYTES", 40_000)
    assert bootstrap(rows, lambda sums: sums[:, 0], draws=500) == pytest.approx(whole)
