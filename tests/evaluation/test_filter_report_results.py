"""Whole results of the report that holds filters against verdicts, word for word."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from evaluation.analyses import filters
from evaluation.analyses.verdicts import FilterVerdicts
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import bootstrap, cluster_sums


class TestFilters:
    # 14 foils of seven captions, two each; the filter lets 9 through. Good ones tend to score high.
    SCORES = np.arange(14.0)
    GOOD = np.array([0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1], dtype=bool)
    NOW = np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1], dtype=bool)
    CAPTIONS = tuple("abcdefgabcdefg")
    FOUND = FilterVerdicts("nli", "Entailment", True, SCORES, GOOD, NOW, CAPTIONS)

    def rates(self, passes, found=FOUND):
        hits = passes & found.good
        rows = cluster_sums(np.column_stack([hits, passes, found.good]).astype(float), found.captions)

        def ci(below):
            return bootstrap(rows, lambda sums: np.array([a / b if b else np.nan for a, b in sums[:, [0, below]]]))

        return {
            "n_pass": int(passes.sum()),
            "precision": hits.sum() / passes.sum(),
            "precision_ci": ci(1),
            "recall": hits.sum() / found.good.sum(),
            "recall_ci": ci(2),
        }

    def held_out(self, wanted):
        passes = np.zeros(14, dtype=bool)
        folds = GroupKFold(n_splits=5, shuffle=True, random_state=0).split(self.SCORES, groups=self.CAPTIONS)
        for train, test in folds:
            passes[test] = self.SCORES[test] >= filters.fit(self.SCORES[train], self.GOOD[train], wanted)
        return passes

    def curve(self):
        thresholds = np.quantile(self.SCORES, np.linspace(0, 1, 40))
        rows = [(float(at), self.GOOD[at <= self.SCORES]) for at in thresholds]
        return [{"threshold": at, "precision": good.sum() / len(good), "recall": good.sum() / 7} for at, good in rows]

    def whole(self, wanted, threshold):
        return {
            "filter": "nli",
            "label": "Entailment",
            "higher_passes": True,
            "n": 14,
            "n_good": 7,
            "n_bad": 7,
            "now": self.rates(self.NOW),
            "reason": None,
            "fitted": self.rates(self.held_out(wanted)),
            "threshold": threshold,
            # Of each good foil, the bad ones below it: 2, 4, 6, 6, 7, 7, 7 of 7.
            "auc": pytest.approx(39 / 49),
            "curve": self.curve(),
        }

    def test_the_whole_result(self):
        # From 8 on pass six, five of them good: F1 10/13; from 5 on it is 12/16, from 2 on 14/19, from 11 on 6/10.
        assert filters.compute([self.FOUND]) == {"filters": [self.whole(0.0, 8.0)], "precision": 0.0}

    def test_a_wanted_precision_reaches_the_fit_and_the_held_out_captions(self):
        assert self.held_out(1.0).tolist() != self.held_out(0.0).tolist()
        assert filters.compute([self.FOUND], precision=1) == {"filters": [self.whole(1.0, 11.0)], "precision": 1}

    def test_filters_that_pass_low_scores_only_reverse_the_thresholds(self):
        (row,) = filters.compute([replace(self.FOUND, higher_passes=False, scores=-self.SCORES)])["filters"]
        whole = self.whole(0.0, -8.0)
        curve = [{**point, "threshold": -point["threshold"]} for point in whole["curve"]]
        assert row == {**whole, "higher_passes": False, "curve": curve}

    def test_five_good_five_bad_and_five_captions_are_just_enough(self):
        good = np.array([0, 1] * 5, dtype=bool)
        enough = FilterVerdicts("nli", "Entailment", True, good.astype(float), good, good, tuple("abcdeabcde"))
        four, captions = np.array([0, 1] * 4 + [1, 1], dtype=bool), tuple("abcdabcdab")
        wanting = [replace(enough, good=four), replace(enough, good=~four), replace(enough, captions=captions)]
        (row,) = filters.compute([enough])["filters"]
        # A held-out foil that scores just what was fitted passes: all good ones do, and no other.
        assert (row["reason"], row["threshold"], row["fitted"]) == (None, 1.0, self.rates(good, enough))
        for found in wanting:
            (row,) = filters.compute([found])["filters"]
            assert row == {
                "filter": "nli",
                "label": "Entailment",
                "higher_passes": True,
                "n": 10,
                "n_good": found.good.sum(),
                "n_bad": 10 - found.good.sum(),
                "now": self.rates(good, found),
                "reason": "fewer than 5 good or bad foils, or 5 captions",
                "fitted": None,
                "threshold": None,
                "auc": None,
                "curve": [],
            }

    def test_a_single_passing_caption_leaves_draws_without_a_precision(self):
        once = np.arange(14) == 3
        found = replace(self.FOUND, now=once, good=once)
        assert filters.compute([found])["filters"][0]["now"] == self.rates(once, found)

    def test_a_draw_in_which_one_foil_passes_has_a_precision(self):
        # Of 40 foils four pass, three of them good: the low end is that of draws with the bad one alone.
        passes, good = np.arange(40) < 4, np.arange(40) < 3
        names = tuple(map(str, range(40)))
        found = FilterVerdicts("nli", "Entailment", True, np.zeros(40), good, passes, names)
        now = filters.compute([found])["filters"][0]["now"]
        assert now == self.rates(passes, found)
        assert now["precision_ci"] == [0.0, 1.0]

    def test_without_passing_or_good_foils_there_is_no_share(self):
        nothing = np.zeros(14, dtype=bool)
        (row,) = filters.compute([replace(self.FOUND, now=nothing, good=nothing)])["filters"]
        shares = ("precision", "precision_ci", "recall", "recall_ci")
        assert row["now"] == {"n_pass": 0, **dict.fromkeys(shares)}

    def test_invalid_input_is_reported(self):
        nobody = r"^no foil with a filter score has been judged; review or validate some first$"
        with pytest.raises(EvaluationError, match=nobody):
            filters.compute([])
        for wrong in (-0.1, 1.5):
            said = rf"^the precision is {wrong}; give a number from 0 \(best F1\) to 1$"
            with pytest.raises(EvaluationError, match=said):
                filters.compute([self.FOUND], precision=wrong)
