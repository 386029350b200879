"""Whole results of generation.balance: what is kept, what leaves, what is said of it, and what a seed has drawn."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from foilworks.core.solver.pairs import UNSOLVED, solve_pairs
from foilworks.core.solver.questions import Row
from generation.balance.adversarial import refine
from generation.balance.balanced_pairs import Pair, PairSelection, word_counts
from generation.balance.classifier import TellingWord, cue_words, fitted
from generation.balance.frequency import match
from generation.balance.outcome import lost_reasons, outcome
from generation.balance.selection import select
from generation.errors import GenerationError


def steps(*rows):
    """(id, group, word that is replaced, word that is put in) -> pairs; "" leaves no word in its place."""
    return [Pair(name, group, f"we {source} it", f"we {target} it") for name, group, source, target in rows]


def swaps(*rows):
    """(replaced, put in, times) -> pairs of distinct captions, named by their number."""
    flat = [(source, target) for source, target, times in rows for _ in range(times)]
    return [Pair(str(n), f"g{n}", f"t{n} goes {a} it", f"t{n} goes {b} it") for n, (a, b) in enumerate(flat)]


def tangled(n, vocabulary, seed):
    """(pairs, three that must stay): three words of each side by chance, too tangled for the first node of a search."""
    chance, names = random.Random(seed), [f"w{k}" for k in range(vocabulary)]
    texts = [[" ".join(["we", *chance.sample(names, 3)]) for _ in range(2)] for _ in range(n + 3)]
    pairs = [Pair(f"p{k}", f"p{k}", caption, foil) for k, (caption, foil) in enumerate(texts)]
    return pairs[:n], pairs[n:]


class TestSelection:
    PAIRS = steps(*((name, name, "cut", "fold") for name in "ebadc"))
    FIXED = steps(("f", "f", "up", "down"))

    def test_one_foil_per_group_stays_unless_more_are_requested(self):
        pairs = steps(("a", "g", "in", "on"), ("b", "g", "in", "on"), ("c", "h", "on", "in"), ("d", "k", "on", "in"))
        chosen = select(pairs)
        assert (len({"a", "b"} & {*chosen.selected}), len({"c", "d"} & {*chosen.selected}), chosen.at_most) == (1, 1, 2)
        assert select(pairs, per_group=2) == PairSelection(("a", "b", "c", "d"), (), 4)

    @pytest.mark.parametrize(("per_group", "kept"), [(2, 0), (3, 2), (4, 4)])
    def test_each_fixed_pair_counts_in_its_group(self, per_group, kept):
        fixed = steps(("f", "g", "in", "on"), ("e", "g", "on", "in"))
        pairs = steps(("a", "g", "in", "on"), ("b", "g", "in", "on"), ("c", "h", "on", "in"), ("d", "k", "on", "in"))
        chosen = select(pairs, per_group=per_group, fixed=fixed)
        assert (len(chosen.selected), len(chosen.lost), chosen.at_most) == (kept, 4 - kept, kept)

    def test_more_pairs_never_justify_another_unbalanced_word(self):
        # "up" is replaced once by what must stay; all four together replace it once more, or put it in.
        worse = steps(("1", "1", "up", "a"), ("2", "2", "a", "b"), ("3", "3", "b", "c"), ("4", "4", "c", ""))
        assert select(worse, fixed=self.FIXED) == PairSelection((), ("1", "2", "3", "4"), 0)
        better = [Pair(pair.id, pair.group, pair.foil, pair.caption) for pair in worse]
        assert select(better, fixed=self.FIXED) == PairSelection(("1", "2", "3", "4"), (), 4)

    def test_kept_and_lost_ids_are_in_input_order(self):
        pairs = [*steps(("x", "x", "up", "down")), *self.PAIRS, *steps(("y", "y", "down", "up"))]
        assert select(pairs) == PairSelection(("x", "y"), ("e", "b", "a", "d", "c"), 2)

    @pytest.mark.full
    def test_without_a_proof_the_bound_exceeds_every_choice(self):
        ended = 0
        for n, vocabulary, seed in ((60, 20, 7), (60, 20, 24), (60, 20, 34), (80, 14, 29)):
            pairs, fixed = tangled(n, vocabulary, seed)
            for must_stay in ((), fixed):
                early, whole = select(pairs, fixed=must_stay, nodes=1), select(pairs, fixed=must_stay)
                assert len(whole.selected) == whole.at_most <= early.at_most <= n
                ended += len(early.selected) < early.at_most
        assert ended > 0

    def test_invalid_input_is_refused_with_the_reason(self):
        with pytest.raises(GenerationError, match=r"^two pairs have the same id; give each pair its own id$"):
            select(self.FIXED * 2)
        with pytest.raises(GenerationError, match=r"^per_group is 0; keep at least one foil per group$"):
            select(self.FIXED, per_group=0)


class TestAdversarial:
    def test_the_result_has_exactly_these_values(self):
        # d and a mirror each other and e itself; nothing stands across from c and b.
        gaps = np.array([[0.5, 0.5], [-0.5, -0.5], [0.5, -0.5], [0, 0.3], [0, 0]])
        assert refine(["d", "a", "c", "b", "e"], gaps) == PairSelection(("d", "a", "e"), ("c", "b"), 3)

    def test_a_grid_with_two_cells_per_side_uses_only_signs(self):
        gaps = np.array([[0.9, 0.1], [-0.1, -0.9]])
        assert refine(["a", "b"], gaps, grid=2) == PairSelection(("a", "b"), (), 2)
        assert refine(["a", "b"], gaps, grid=4) == PairSelection((), ("a", "b"), 0)

    def test_a_gap_of_one_is_in_the_outermost_cell_with_smaller_ones(self):
        assert refine(["a", "b"], np.array([[1.0, 1.0], [-0.99, -0.99]]), grid=4).selected == ("a", "b")

    def test_each_score_is_scaled_by_its_own_largest_gap(self):
        # The second score of c and d becomes .6 and -.4, on two sides of the cells' edge at a half.
        gaps = np.array([[40, -2], [-40, 2], [10, 1.2], [-10, -0.8]])
        assert refine(["a", "b", "c", "d"], gaps, grid=4) == PairSelection(("a", "b"), ("c", "d"), 2)

    def test_the_same_seed_draws_the_same_pairs(self):
        # Cells from the lower left: four across from two, two across from three.
        cells = {-0.9: "abcd", -0.1: "ef", 0.1: "ghi", 0.9: "jk"}
        rows = {name: [at, at] for at, names in cells.items() for name in names}
        ids = random.Random(9).sample(sorted(rows), len(rows))
        drawn = []
        for seed in range(6):
            generator = random.Random(seed)
            kept = {name for names in cells.values() for name in generator.sample(names, 2)}
            drawn.append(tuple(name for name in ids if name in kept))
            assert refine(ids, np.array([rows[name] for name in ids]), grid=4, seed=seed).selected == drawn[-1]
        assert refine(ids, np.array([rows[name] for name in ids]), grid=4).selected == drawn[0] != drawn[1]

    def test_invalid_input_is_refused_with_the_reason(self):
        for grid in (3, 0, 1):
            with pytest.raises(GenerationError, match=rf"^the grid is {grid}; give an even number of cells per side$"):
                refine([], np.empty((0, 2)), grid=grid)
        said = r"^adversarial refinement needs two scores per foil; score the foils first$"
        for gaps in ([[np.inf, 1.0]], [[1.0, 1.0]] * 2, [[1.0]]):
            with pytest.raises(GenerationError, match=said):
                refine(["a"], np.array(gaps))


class TestClassifier:
    def test_the_weight_of_a_word_by_hand(self):
        # Least of w * w + 2 n log(1 + exp(-w)), where the word put in has the weight -w: w = n / (1 + exp(w)).
        found = cue_words([("she folds it", "she tears it")] * 5)
        weight = found[0].weight
        assert weight == pytest.approx(5 / (1 + math.exp(weight)), rel=1e-3)
        near, gain = pytest.approx(-weight, rel=1e-3), pytest.approx(5 * weight, rel=1e-3)
        assert found == [TellingWord("folds", 5, 0, weight, gain), TellingWord("tears", 0, 5, near, gain)]

    def test_ten_cue_words_are_listed_and_ties_are_sorted_by_word(self):
        pairs = [(f"a{k}", f"b{k}") for k in range(6)]
        expected = [*(f"a{k}" for k in range(6)), *(f"b{k}" for k in range(4))]
        assert [row.word for row in cue_words(pairs)] == expected

    def test_a_small_difference_of_gain_decides_the_order(self):
        # About 1.4, 1.3, 1.1 and .4.
        found = cue_words([("zoo", "yak")] * 2 + [("ant ant", "bee")])
        assert [row.word for row in found] == ["zoo", "yak", "ant", "bee"]
        assert [round(row.gain) for row in found] == [1, 1, 1, 0]


class TestOutcome:
    # 0, 1, 2 replace "on" by "in", 3 and 4 the other way; "at" and "by" of 5 stand on one side.
    PAIRS = swaps(("on", "in", 3), ("in", "on", 2), ("at", "by", 1))
    FIXED = steps(("f", "f", "on", "in"))
    CHOSEN = PairSelection(("0", "1", "3", "4"), ("2", "5"), 4)

    def accuracy(self, pairs):
        rows = [Row(pair.caption, (pair.foil,), video=pair.group) for pair in pairs]
        texts = [(pair.caption, pair.foil) for pair in pairs]
        return {"fitted": float(np.mean(fitted(texts))), **solve_pairs(rows)["overall"]}

    def test_the_result_has_exactly_these_values(self):
        assert outcome(self.PAIRS, self.CHOSEN, fixed=self.FIXED, top=3) == {
            "n": 6,
            "n_fixed": 1,
            "n_kept": 4,
            "n_lost": 2,
            "share": 4 / 6,
            "at_most": 4,
            "feasible": False,
            "reason": "4 of 6 can be balanced: of 3 words that are replaced and 3 that are inserted, 2 are on both "
            "sides. 1 foils contain a word without a counterpart; make more foils with words of other captions",
            "lost": {"no_counterpart": 1, "other_foil": 0, "too_often": 1},
            "before": self.accuracy([*self.FIXED, *self.PAIRS]),
            "after": self.accuracy([*self.FIXED, *self.PAIRS[:2], *self.PAIRS[3:5]]),
            "is_balanced": False,
            "is_still_solved": False,
            "words_before": [
                {"word": "in", "in_captions": 2, "in_foils": 4, "excess": -2},
                {"word": "on", "in_captions": 4, "in_foils": 2, "excess": 2},
                {"word": "at", "in_captions": 1, "in_foils": 0, "excess": 1},
            ],
            "words_after": [
                {"word": "in", "in_captions": 2, "in_foils": 3, "excess": -1},
                {"word": "on", "in_captions": 3, "in_foils": 2, "excess": 1},
            ],
        }

    def test_balanced_words_can_still_be_solved_by_their_form(self):
        # Words are balanced; each caption ends with a full stop.
        pairs = [
            Pair(str(n), f"g{n}", f"t{n} goes {a} it.", f"t{n} goes {b} it")
            for n, (a, b) in enumerate([("on", "in"), ("in", "on")] * 30)
        ]
        row = outcome(pairs, select(pairs))
        assert (row["n_kept"], row["is_balanced"], row["is_still_solved"]) == (60, True, True)
        assert (row["after"]["fitted"], row["after"]["solver_accuracy"], row["after"]["verdict"]) == (0.5, 1.0, "fail")

    def test_pairs_of_one_video_do_not_teach_each_other(self):
        pairs = swaps(("on", "in", 40))
        in_one_video = [replace(pair, video="v") for pair in pairs]
        assert outcome(pairs, select(pairs))["before"]["verdict"] == "fail"
        row = outcome(in_one_video, select(in_one_video))
        assert (row["before"], row["after"]) == ({"fitted": 1.0, **UNSOLVED}, {"fitted": None, **UNSOLVED})

    @pytest.mark.parametrize(
        ("kept", "of", "feasible"), [(20, 200, True), (20, 201, False), (19, 19, False), (20, 20, True)]
    )
    def test_a_tenth_and_twenty_pairs_are_feasible(self, kept, of, feasible):
        pairs = swaps(("on", "in", of // 2), ("in", "on", of - of // 2))
        names = tuple(pair.id for pair in pairs)
        found = outcome(pairs, PairSelection(names[:kept], names[kept:], kept))
        assert (found["feasible"], found["reason"] == "") == (feasible, feasible)

    def test_a_word_whose_counterparts_were_removed_has_no_counterpart(self):
        # "a" and "d" stand on one side; without their pairs "b" and "c" do so as well. "x" and "y" keep each other.
        pairs = steps(*((f"{a}{b}", f"{a}{b}", a, b) for a, b in ("ab", "bc", "cd", "xy", "yx")))
        found = lost_reasons(pairs, PairSelection((), tuple(pair.id for pair in pairs), 0))
        assert found == {"no_counterpart": 3, "other_foil": 0, "too_often": 2}

    def test_words_are_counted_on_both_sides_most_unbalanced_first(self):
        rows = [(row.word, row.in_captions, row.in_foils, row.excess) for row in word_counts(self.PAIRS)]
        assert rows == [("at", 1, 0, 1), ("by", 0, 1, -1), ("in", 2, 3, -1), ("on", 3, 2, 1)]


class TestFrequency:
    # Three foils of g replace "in" by "on", which three other captions have; "in" can be put in once.
    PAIRS = steps(
        ("a", "g", "in", "on"),
        ("b", "g", "in", "on"),
        ("c", "g", "in", "on"),
        ("x", "x", "on", "in"),
        ("y", "y", "on", "in"),
        ("z", "z", "on", "in"),
    )
    RANKS = dict(zip("bcazyx", range(6), strict=True))

    def test_the_result_has_exactly_these_values(self):
        assert match(self.PAIRS, ranks=self.RANKS) == PairSelection(("b", "z"), ("a", "c", "x", "y"), 4)

    def test_more_pairs_per_group_are_kept_if_requested(self):
        found = match(self.PAIRS, ranks=self.RANKS, per_group=2)
        assert found == PairSelection(("b", "c", "z"), ("a", "x", "y"), 6)

    def test_fixed_pairs_count_in_their_group(self):
        fixed = steps(("f", "g", "in", "on"))
        assert match(self.PAIRS, ranks=self.RANKS, fixed=fixed) == PairSelection(("z",), ("a", "b", "c", "x", "y"), 4)
        assert match(self.PAIRS, ranks=self.RANKS, fixed=fixed, per_group=2).selected == ("b", "z")

    def test_the_same_seed_draws_the_same_pairs(self):
        drawn = []
        for seed in range(6):
            generator = random.Random(seed)
            places = {name: generator.random() for name in "abcxyz"}
            drawn.append((min("abc", key=places.get), min("xyz", key=places.get)))
            assert match(self.PAIRS, seed=seed).selected == drawn[-1]
        assert match(self.PAIRS).selected == drawn[0] != drawn[1]

    def test_a_caption_allows_every_word_that_one_of_its_foils_replaces(self):
        pairs = [
            Pair("a", "g", "in dog", "on dog"),
            Pair("b", "g", "in dog", "in cat"),
            *steps(("c", "h", "up", "in"), ("d", "k", "up", "dog")),
        ]
        assert match(pairs) == PairSelection(("c", "d"), ("a", "b"), 3)
