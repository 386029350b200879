"""Divergence and the blind audit."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from evaluation.analyses import blind, jensen_shannon
from evaluation.analyses.words import js_divergence, word_counts
from evaluation.errors import EvaluationError
from foilworks.core.media.child import LimitError
from tests.evaluation.builders import item

counters = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1).map(Counter)


class TestDivergence:
    def test_one_of_two_words_replaced(self):
        # c = (1/2, 1/2, 0), f = (1/2, 0, 1/2): each KL to the mean is 1/2 * log2(2).
        got = jensen_shannon.compute([item("opens door", "closes door")])
        assert got["js"] == pytest.approx(math.sqrt(1 / 2))
        assert got["n_lexical_items"] == 2
        assert got["n_lexical_items_by_size"] == 0
        assert (got["caption_vocabulary"], got["foil_vocabulary"]) == (2, 2)
        assert [(row["word"], row["shift"]) for row in got["top_shifts"]] == [
            ("closes", 0.5),
            ("opens", -0.5),
            ("door", 0),
        ]

    def test_only_the_words_that_differ_share_nothing(self):
        got = jensen_shannon.compute([item("A man opens the door.", "A man closes the door.")], unit="changed")
        assert got["js"] == 1
        assert (got["caption_vocabulary"], got["foil_vocabulary"]) == (1, 1)

    def test_base_e_has_a_ceiling_of_its_own(self):
        assert jensen_shannon.compute([item("a", "b")], base="e")["js"] == pytest.approx(math.sqrt(math.log(2)))

    def test_a_caption_counts_once_however_many_foils_it_has(self):
        captions, foils = word_counts([item("up", "down", "left", "up up")])
        assert captions == {"up": 1}
        assert foils == {"down": 1, "left": 1, "up": 2}
        captions, foils = word_counts([item("go up now", "go down now", "go left now", "go up then")], "changed")
        assert captions == {"up": 1, "now": 1}
        assert foils == {"down": 1, "left": 1, "then": 1}

    def test_words_are_lower_case_and_keep_their_apostrophe(self):
        captions, _ = word_counts([item("The Dog's café-bar, the 3rd!", "x")])
        assert captions == {"the": 2, "dog's": 1, "café": 1, "bar": 1, "3rd": 1}

    def test_case_and_punctuation_do_not_count_as_changes(self):
        captions, foils = word_counts([item("A dog, runs", "a dog runs.")], "changed")
        assert not captions
        assert not foils

    def test_without_words_there_is_no_value(self):
        got = jensen_shannon.compute([item("!!!", "???")])
        assert got["js"] is None
        assert got["js_valid"] is None

    def test_valid_items_have_their_own_value(self):
        got = jensen_shannon.compute([item("a", "a", valid=True), item("b", "c", valid=False)])
        assert got["js_valid"] == 0
        assert got["js"] > 0

    def test_unknown_names_list_the_known(self):
        with pytest.raises(EvaluationError, match=r"base '10'.*2, e"):
            jensen_shannon.compute([item("a", "b")], base="10")
        with pytest.raises(EvaluationError, match=r"unit 'letters'.*words, changed"):
            jensen_shannon.compute([item("a", "b")], unit="letters")

    @settings(max_examples=60, deadline=None)
    @given(counters, counters)
    def test_it_is_scipys_distance_symmetric_and_bounded(self, captions, foils):
        names = sorted(captions.keys() | foils.keys())
        p, q = (np.array([side[name] for name in names], float) for side in (captions, foils))
        got = js_divergence(captions, foils)
        # scipy's own rounding near zero is larger than ours: sqrt of 1e-16 is 1e-8.
        assert got == pytest.approx(np.nan_to_num(jensenshannon(p, q, base=2)), abs=1e-7)
        assert got == js_divergence(foils, captions)
        assert 0 <= got <= 1 + 1e-12


class TestBlind:
    NOUNS = ("dog", "cat", "cup", "hat", "ball", "car", "tree", "bird", "fish", "book")

    def test_a_word_that_only_foils_have_gives_them_away(self):
        items = [item(f"a {noun} moves", f"a {noun} stays", name=noun) for noun in self.NOUNS]
        (row,) = blind.compute(items, draws=200)["subtests"]
        assert (row["solver_accuracy"], row["ci"][1]) == (1, 1)
        # Ten of ten items: a share of them may still be otherwise. Wilson's bound of ten is .722.
        assert 0.5 < row["ci"][0] < 0.722
        assert (row["n_items"], row["n_pairs"]) == (10, 10)

    def test_the_order_of_words_gives_foils_away(self):
        items = [item(f"a {noun} meets a man", f"a man meets a {noun}", name=noun) for noun in self.NOUNS]
        (row,) = blind.compute(items, draws=200)["subtests"]
        assert (row["solver_accuracy"], row["fitted_accuracy"]) == (1.0, 0.5)

    def test_mirrored_data_is_not_above_chance(self):
        items = [item(f"a {noun} rises", f"a {noun} falls") for noun in self.NOUNS]
        items += [item(f"a {noun} falls", f"a {noun} rises") for noun in self.NOUNS]
        (row,) = blind.compute(items, draws=200)["subtests"]
        assert row["solver_accuracy"] == 0.5

    def test_two_items_are_too_few_to_learn_from(self):
        (row,) = blind.compute([item("a dog", "a cat"), item("A dog.", "a cow")])["subtests"]
        assert row["solver_accuracy"] is None
        assert "too few videos" in row["reason"]

    def test_length_is_audited_as_well(self):
        items = [item(f"a red {noun}", f"a {noun}") for noun in self.NOUNS]
        assert blind.compute(items, draws=200)["overall"]["caption_longer"] == 1

    @pytest.mark.full
    def test_many_texts_are_solved_alike_in_a_process_of_their_own(self, monkeypatch):
        items = [item(f"man {n} opens it", f"man {n} {'closes' if n % 3 else 'lifts'} it") for n in range(40)]
        here = blind.solve(items)
        monkeypatch.setattr(blind, "MANY_TEXTS", 1)
        assert blind.solve(items) == here

    def test_a_solver_that_was_ended_says_what_to_do(self, monkeypatch):
        def ended(*_arguments: object) -> None:
            raise LimitError("it was ended")

        monkeypatch.setattr(blind, "MANY_TEXTS", 1)
        monkeypatch.setattr(blind, "run", ended)
        with pytest.raises(EvaluationError, match=r"was ended.*free 300 MB"):
            blind.solve([item("man opens it", "man closes it")])

    def test_a_set_of_valid_items_is_solved_once_and_others_twice(self, monkeypatch):
        solve, solved = blind.solve, []
        monkeypatch.setattr(blind, "solve", lambda items, seed: solved.append(len(items)) or solve(items, seed))
        kept = [item(f"a {noun} rises", f"a {noun} falls", valid=True) for noun in self.NOUNS]
        (row,) = (whole := blind.compute(kept, draws=200))["subtests"]
        assert solved == [10]
        assert row == {**row["valid"], "valid": row["valid"]}
        # Another subtest has an item that is not valid: then its texts teach the solver, too.
        more = [item(f"a {noun} falls", f"a {noun} rises", subtest="t", valid=False) for noun in self.NOUNS]
        first, second = blind.compute([*kept, *more], draws=200)["subtests"]
        assert solved == [10, 20, 10]
        assert first["valid"] == row["valid"] == whole["subtests"][0]["valid"]
        assert second["valid"] is None

    def test_subtests_are_separate(self):
        items = [item(f"a {noun}", f"no {noun}", subtest=name) for noun in self.NOUNS for name in ("x", "y")]
        got = blind.compute(items, draws=200)
        assert [row["name"] for row in got["subtests"]] == ["x", "y"]
        assert got["overall"]["n_items"] == 20
