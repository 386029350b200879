"""Frequency matching, adversarial refinement, the classifier, and what is said of a choice."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.balance.adversarial import refine
from generation.balance.balanced_pairs import Pair, PairSelection, selected_pairs
from generation.balance.classifier import cue_words, fitted
from generation.balance.frequency import match
from generation.balance.outcome import outcome
from generation.balance.selection import select
from generation.errors import GenerationError


def swaps(*rows):
    """(source, target, times) -> pairs of distinct captions."""
    flat = [(source, target) for source, target, times in rows for _ in range(times)]
    return [Pair(str(n), f"g{n}", f"t{n} goes {a} it", f"t{n} goes {b} it") for n, (a, b) in enumerate(flat)]


def texts(pairs):
    return [(pair.caption, pair.foil) for pair in pairs]


class TestFrequency:
    def test_a_word_is_inserted_at_most_as_often_as_it_is_replaced(self):
        pairs = swaps(("on", "in", 5), ("in", "on", 2), ("in", "at", 3))
        kept = selected_pairs(pairs, match(pairs).selected)
        # "in" stands in five captions' place, "on" in five, "at" in none.
        assert Counter(pair.foil.split()[2] for pair in kept) == {"in": 5, "on": 2}

    def test_better_ranks_come_first_and_the_seed_breaks_ties(self):
        pairs = swaps(("on", "in", 6), ("in", "on", 2))
        assert set(match(pairs, ranks={"0": 1, "1": 1, "2": 1, "3": 1}).selected) == {"4", "5", "6", "7"}
        draws = {match(pairs, seed=seed).selected for seed in range(20)}
        assert len(draws) > 1
        assert match(pairs, seed=7) == match(list(pairs), seed=7)

    def test_fixed_pairs_count_toward_the_limit(self):
        pairs = swaps(("on", "in", 2), ("in", "on", 2))
        assert match(pairs[1:], fixed=pairs[:1]).selected == ("1", "2", "3")
        fixed = [Pair("f", "f", "x goes at it", "x goes in it"), Pair("e", "e", "y goes at it", "y goes in it")]
        assert match(pairs, fixed=fixed).selected == ("2", "3")


class TestAdversarial:
    @given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), max_size=40), st.integers(0, 3))
    def test_mirrored_cells_have_equal_numbers_of_pairs(self, rows, seed):
        gaps = np.array(rows, dtype=np.float64).reshape(len(rows), 2)
        ids = [str(n) for n in range(len(rows))]
        kept = [int(name) for name in refine(ids, gaps, grid=4, seed=seed).selected]

        def cell(row):
            return tuple(int(np.sign(x)) * (1 + min(1, int(abs(x) * 2))) for x in row)

        counts = Counter(cell(gaps[n]) for n in kept)
        all_counts = Counter(map(cell, gaps))
        for (a, b), n in all_counts.items():
            assert counts[a, b] == min(n, all_counts[-a, -b])

    def test_a_score_that_reveals_captions_no_longer_does(self):
        generator = np.random.default_rng(0)
        gaps = np.clip(generator.normal(0.15, 0.3, size=(4000, 2)), -1, 1)
        ids = [f"{n:05d}" for n in range(4000)]
        chosen = refine(ids, gaps, seed=1)
        left = gaps[[int(name) for name in chosen.selected]]
        # How often each score prefers the caption; ties count half.
        assert ((np.sign(gaps) + 1) / 2).mean(axis=0).min() > 0.65
        assert ((np.sign(left) + 1) / 2).mean(axis=0) == pytest.approx([0.5, 0.5], abs=1e-9)
        assert 500 < len(chosen.selected) < 3500
        assert refine(ids, gaps, seed=1) == chosen
        assert refine(ids, gaps, seed=2).selected != chosen.selected

    def test_log_likelihoods_are_scaled(self):
        gaps = np.array([[40.0, -2.0], [-40.0, 2.0], [10.0, 0.0]])
        assert refine(["a", "b", "c"], gaps).selected == ("a", "b")

    def test_bad_input_is_refused(self):
        with pytest.raises(GenerationError, match="even number"):
            refine([], np.empty((0, 2)), grid=3)
        with pytest.raises(GenerationError, match="two scores"):
            refine(["a"], np.array([[np.nan, 1.0]]))


class TestClassifier:
    def test_the_classifier_finds_and_names_one_sided_words(self):
        pairs = texts(swaps(("folds", "tears", 30)))
        assert fitted(pairs).mean() == 1.0
        first, second = cue_words(pairs, top=2)
        assert {first.word, second.word} == {"folds", "tears"}
        folds = first if first.word == "folds" else second
        assert (folds.in_captions, folds.in_foils) == (30, 0)
        assert folds.weight > 0

    def test_balanced_words_give_no_accuracy(self):
        pairs = texts(swaps(("folds", "tears", 20), ("tears", "folds", 20)))
        assert set(fitted(pairs)) == {0.5}
        assert cue_words(pairs) == []

    def test_pairs_without_words_are_not_distinguished(self):
        assert fitted([]).size == 0
        assert set(fitted([("…", "¿"), ("!", "?")])) == {0.5}


class TestOutcome:
    def test_a_choice_counts_lost_pairs_by_reason(self):
        pairs = swaps(("on", "in", 30), ("in", "on", 22), ("at", "by", 4))
        found = outcome(pairs, select(pairs))
        assert (found["n"], found["n_kept"], found["n_lost"], found["feasible"]) == (56, 44, 12, True)
        assert found["lost"] == {"no_counterpart": 4, "other_foil": 0, "too_often": 8}
        assert found["before"]["fitted"] > 0.55
        assert found["after"]["fitted"] == 0.5
        assert found["words_before"][0] == {"word": "in", "in_captions": 22, "in_foils": 30, "excess": -8}
        assert {row["excess"] for row in found["words_after"]} == {0}

    def test_an_infeasible_balance_is_named_with_the_reason(self):
        pairs = swaps(("cut", "hold", 30), ("hold", "cut", 1))
        found = outcome(pairs, select(pairs))
        assert (found["n_kept"], found["feasible"]) == (2, False)
        assert "2 of 31 can be balanced" in found["reason"]

    def test_a_second_foil_of_a_caption_is_a_separate_reason(self):
        pairs = [Pair("a", "g", "x in", "x on"), Pair("b", "g", "x in", "x on"), Pair("c", "h", "x on", "x in")]
        assert outcome(pairs, select(pairs))["lost"] == {"no_counterpart": 0, "other_foil": 1, "too_often": 0}
        assert outcome([], PairSelection((), (), 0))["feasible"] is False
