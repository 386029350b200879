"""Whole results of the studies of votes and scores, word for word: pages, files and commands read them by these names.

Of evaluation.analyses: agreement, reviewing, validation, skill with its crowd model, delta and accuracy by group.
"""

import math
import random
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation.classification import DawidSkene

from evaluation.analyses import agreement, delta, reviewing, skill, validation
from evaluation.analyses import crowd as _crowd
from evaluation.analyses import scored_items as _scored
from evaluation.analyses.agreement_data import NOTHING_SHARED, alpha
from evaluation.analyses.analysis_inputs import CHOICES, NOBODY, Votes
from evaluation.analyses.scored_items import ScoredItems
from evaluation.analyses.words import js_divergence, word_counts
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import mean_intervals, t_interval, wilson
from evaluation.score_files.scores import padded
from tests.evaluation.builders import item, votes_of

HOW = {"draws": 60, "seed": 5}
OTHERS = ({"draws": 60, "seed": 6}, {"draws": 61, "seed": 5})


def votes_among(units, people, *rows):
    """Rows (unit, annotator or "" for nobody, choice) over names that stand in this order, whoever has voted."""
    units, people = units.split(), people.split()
    table = np.array([(units.index(u), people.index(p) if p else NOBODY, CHOICES.index(c), 0) for u, p, c in rows])
    return Votes(*table.T, units, people, np.arange(len(units)))


def many_votes():
    """Three votes on each of 40 units, every one by chance: hardly two draws have the same interval."""
    choices = np.random.default_rng(2).integers(0, 2, size=(40, 3))
    rows = [(f"u{k:02d}", f"p{n}", CHOICES[code], 0) for k, row in enumerate(choices) for n, code in enumerate(row)]
    return votes_of(*rows), np.column_stack([3 - choices.sum(axis=1), choices.sum(axis=1)])


class TestAgreement:
    # Votes on x, y, z, w: caption 2, 0, 1, 1; foil 1, 3, 1, 0. The one on w alone says nothing of agreement.
    VOTES = votes_among(
        "x y z w",
        "ann bob cy dot",
        ("x", "ann", "caption"),
        ("x", "bob", "caption"),
        ("x", "cy", "foil"),
        ("y", "ann", "foil"),
        ("y", "cy", "foil"),
        ("y", "", "foil"),
        ("z", "cy", "caption"),
        ("z", "", "foil"),
        ("w", "ann", "caption"),
    )

    def test_the_whole_result(self):
        used = np.array([[2, 1], [0, 3], [1, 1]])
        by_chance = (3 / 8) ** 2 + (5 / 8) ** 2
        # x and y are pairs of one item, z and w of another.
        votes = replace(self.VOTES, unit_items=np.array([7, 7, 3, 3]))
        assert agreement.compute(votes, **HOW) == {
            "coding": "truth",
            # D_o = 2 + 0 + 2; D_e = (64 - 9 - 25) / 7.
            "alpha": pytest.approx(1 - 4 * 7 / 30),
            "alpha_ci": alpha(used, np.array([7, 7, 3]), **HOW).interval,
            "alpha_ci_undefined": alpha(used, np.array([7, 7, 3]), **HOW).undefined,
            "reason": None,
            "fleiss_kappa": pytest.approx((4 / 9 - by_chance) / (1 - by_chance)),
            "percent_agreement": pytest.approx((1 / 3 + 1 + 0) / 3),
            "n_items": 2,
            "n_votes": 9,
            "n_units": 4,
            "n_units_used": 3,
            "n_annotators": 4,
            "choices": {"caption": 4, "foil": 5, "neither": 0, "both": 0, "cannot_tell": 0},
            "pairs": [
                {"annotators": ["ann", "cy"], "n": 2, "agreement": 0.5},
                {"annotators": ["ann", "bob"], "n": 1, "agreement": 1.0},
                {"annotators": ["bob", "cy"], "n": 1, "agreement": 0.0},
            ],
            # The others of ann say foil on y, of cy caption on x, foil on y and on z; bob's are divided.
            "annotators": [
                {"annotator": "ann", "n_votes": 3, "n": 1, "agreement": 1.0, "ci": wilson(1, 1)},
                {"annotator": "bob", "n_votes": 1, "n": 0, "agreement": None, "ci": None},
                {"annotator": "cy", "n_votes": 3, "n": 3, "agreement": pytest.approx(1 / 3), "ci": wilson(1, 3)},
                {"annotator": "dot", "n_votes": 0, "n": 0, "agreement": None, "ci": None},
            ],
            "guidelines": [],
        }

    def test_the_whole_result_under_each_guideline(self):
        # Under v1 the votes on x and the nameless one on z; under v2 the others: on y all foil, on z and w one.
        told = np.array([0, 0, 0, 1, 1, 1, 1, 0, 1])
        votes = replace(self.VOTES, guideline=told, guideline_names=["v1", "v2"])
        first, second = agreement.compute(votes, **HOW)["guidelines"]
        # One unit has two votes: 1 - D_o / D_e = 1 - 2 / 2, and no interval of one.
        assert first == {
            "guideline": "v1",
            "n_votes": 4,
            "n_units_used": 1,
            "alpha": pytest.approx(0),
            "alpha_ci": None,
            "alpha_ci_undefined": None,
            "reason": None,
            "percent_agreement": pytest.approx(1 / 3),
        }
        assert second == {
            "guideline": "v2",
            "n_votes": 5,
            "n_units_used": 1,
            "alpha": None,
            "alpha_ci": None,
            "alpha_ci_undefined": None,
            "reason": "all votes fall into one category, so that agreement by chance is certain",
            "percent_agreement": 1.0,
        }

    def test_draws_and_seed_reach_the_intervals_overall_and_under_each_guideline(self):
        votes, counts = many_votes()
        told = np.arange(len(votes.choice)) // 60
        votes = replace(votes, guideline=told, guideline_names=["v1", "v2"])
        found = agreement.compute(votes, **HOW)
        shown = [found["alpha_ci"], *(row["alpha_ci"] for row in found["guidelines"])]
        parts = (counts, counts[:20], counts[20:])
        assert shown == [alpha(part, **HOW).interval for part in parts]
        for other in OTHERS:
            assert all(alpha(part, **other).interval not in shown for part in parts)

    def test_votes_that_name_nobody_have_no_pairs_and_no_annotators(self):
        found = agreement.compute(votes_among("x", "", ("x", "", "caption"), ("x", "", "foil")), **HOW)
        assert (found["pairs"], found["annotators"], found["n_annotators"]) == ([], [], 0)
        assert found["percent_agreement"] == 0.0


class TestReviewing:
    FIRST = (
        ("eve", "accept", ()),
        ("rita", "drop", ("still_true", "grammar")),
        ("rob", "accept", ()),
        ("rita", "drop", ("still_true",)),
        ("ada", "fix", ("grammar", "typo")),
        ("rob", "send_back", ("still_true",)),
        ("rita", "accept", ()),
    )
    PAIRS = (("accept", "accept"), ("accept", "fix"), ("drop", "send_back"), ("drop", "drop"))

    def test_the_whole_result(self):
        # Over the four decisions, then over whether the text stands.
        four = np.array([[2, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 2, 0]])
        two = np.array([[2, 0], [1, 1], [0, 2], [0, 2]])
        none = {"accept": 0, "send_back": 0, "drop": 0, "fix": 0}
        assert reviewing.compute(reviewing.ReviewFacts(self.FIRST, self.PAIRS, 7), **HOW) == {
            "n_reviewed": 7,
            "n_unreviewed": 7,
            "decisions": {"accept": 3, "send_back": 1, "drop": 2, "fix": 1},
            "reasons": {"still_true": 3, "grammar": 2, "typo": 1},
            "n_twice": 4,
            "agreement": [
                {
                    "coding": "decision",
                    "n": 4,
                    "percent_agreement": 0.5,
                    "fleiss_kappa": pytest.approx((1 / 2 - 20 / 64) / (1 - 20 / 64)),
                    # D_o = 2 + 2; D_e = (64 - 9 - 1 - 9 - 1) / 7.
                    "alpha": pytest.approx(1 - 4 * 7 / 44),
                    "alpha_ci": alpha(four, **HOW).interval,
                    "alpha_ci_undefined": alpha(four, **HOW).undefined,
                    "reason": None,
                },
                {
                    "coding": "stands",
                    "n": 4,
                    "percent_agreement": 0.75,
                    "fleiss_kappa": pytest.approx((3 / 4 - 34 / 64) / (1 - 34 / 64)),
                    "alpha": pytest.approx(1 - 2 * 7 / 30),
                    "alpha_ci": alpha(two, **HOW).interval,
                    "alpha_ci_undefined": alpha(two, **HOW).undefined,
                    "reason": None,
                },
            ],
            "table": [
                {"first": "accept", **none, "accept": 1, "fix": 1},
                {"first": "send_back", **none},
                {"first": "drop", **none, "drop": 1, "send_back": 1},
                {"first": "fix", **none},
            ],
            "people": [
                {"person": "rita", "n": 3, **none, "accept": 1, "drop": 2},
                {"person": "rob", "n": 2, **none, "accept": 1, "send_back": 1},
                {"person": "ada", "n": 1, **none, "fix": 1},
                {"person": "eve", "n": 1, **none, "accept": 1},
            ],
        }

    def test_reasons_are_sorted_by_frequency_then_by_name(self):
        codes = ("typo", "grammar", "still_true", "still_true", "awkward")
        found = reviewing.compute(reviewing.ReviewFacts((("rob", "drop", codes),)), **HOW)
        assert list(found["reasons"]) == ["still_true", "awkward", "grammar", "typo"]

    def test_draws_and_seed_reach_the_intervals_of_both_codings(self):
        chosen = np.random.default_rng(4).integers(0, 4, size=(40, 2))
        pairs = [tuple(reviewing.DECISIONS[code] for code in row) for row in chosen]
        four = np.array([np.bincount(row, minlength=4) for row in chosen])
        two = np.column_stack([four[:, 0], four[:, 1:].sum(axis=1)])
        found = reviewing.compute(reviewing.ReviewFacts(pairs=pairs), **HOW)
        shown = [row["alpha_ci"] for row in found["agreement"]]
        assert shown == [alpha(counts, **HOW).interval for counts in (four, two)]
        for other in OTHERS:
            assert all(alpha(counts, **other).interval not in shown for counts in (four, two))

    def test_foils_of_one_item_are_drawn_together(self):
        chosen = np.random.default_rng(4).integers(0, 4, size=(40, 2))
        pairs = [tuple(reviewing.DECISIONS[code] for code in row) for row in chosen]
        items = np.arange(40) // 5
        found = reviewing.compute(reviewing.ReviewFacts(pairs=pairs, items=items.tolist()), **HOW)
        four = np.array([np.bincount(row, minlength=4) for row in chosen])
        assert found["agreement"][0]["alpha_ci"] == alpha(four, items, **HOW).interval
        assert found["agreement"][0]["alpha_ci"] != alpha(four, **HOW).interval


class TestValidation:
    ITEMS = (
        item(
            "a dog runs",
            "a cat runs",
            name="i1",
            votes=(3, 0, 0),
            valid=True,
            unanimous=True,
            simpler=("a dog", "a cat", True),
        ),
        item(
            "a dog runs",
            "a dog sits",
            name="i2",
            test="T",
            votes=(2, 1, 0),
            valid=True,
            unanimous=False,
            simpler=("a dog", "a cow", False),
        ),
        item(
            "the man jumps",
            "the man sits",
            "the boy jumps",
            name="i3",
            votes=((1, 1, 1), (0, 2, 1)),
            valid=False,
            unanimous=False,
            simpler=("a man", "a boy", True),
        ),
        item(
            "a cat", "a hen", name="i4", votes=(0, 0, 3), valid=False, unanimous=False, simpler=("a cat", "a hen", True)
        ),
    )
    TALLIES = np.array([[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 2, 1], [0, 0, 3]])

    def test_the_whole_result(self):
        # Replaced: dog, runs, jumps, man, cat; put in: cat, sits twice, boy, hen: one word in five on both sides.
        far = math.sqrt(math.log(2))
        sample = random.Random(5).sample(self.ITEMS, 2)
        row = {
            "name": "s",
            "test": "T",
            "n_items": 4,
            "n_valid": 2,
            "n_unanimous": 1,
            "n_valid_proficiency": 3,
            "n_both": 1,
            "n_lexical_items": 7,
            "js_all": pytest.approx(far * math.sqrt(4 / 5)),
            "js_valid": pytest.approx(far),
            "js_all_at_size_of_valid": js_divergence(*word_counts(sample, "changed"), "e"),
            # D_o = 0 + 2 + 3 + 2 + 0; D_e = (225 - 36 - 16 - 25) / 14.
            "alpha_all": pytest.approx(1 - 7 * 14 / 148),
            "alpha_valid": pytest.approx(0, abs=1e-12),
            "alpha_coding": "truth3",
            "alpha_all_ci": alpha(self.TALLIES, np.array([1, 2, 3, 3, 4]), **HOW).interval,
            "alpha_valid_ci": alpha(self.TALLIES[:2], **HOW).interval,
            "alpha_all_ci_undefined": alpha(self.TALLIES, np.array([1, 2, 3, 3, 4]), **HOW).undefined,
            "alpha_valid_ci_undefined": alpha(self.TALLIES[:2], **HOW).undefined,
            "alpha_all_reason": None,
            "alpha_valid_reason": None,
            "votes": {"caption": 6, "foil": 4, "other": 5},
            # Replaced: dog twice, man, cat; put in: cat, cow, boy, hen; of the valid ones dog, man, cat; cat, boy, hen.
            "proficiency": {
                "n_items": 4,
                "n_valid": 3,
                "n_lexical_items": 5,
                "js_all": pytest.approx(far * math.sqrt(3 / 4)),
                "js_valid": pytest.approx(far * math.sqrt(2 / 3)),
            },
        }
        assert validation.compute(self.ITEMS, base="e", unit="changed", **HOW) == {
            "subtests": [row],
            "overall": {**row, "name": "overall", "test": None},
            "definitions": {"js_base": "e", "js_unit": "changed", "lexical_items": "words on one side only"},
        }

    def test_the_whole_result_without_judgements(self):
        bare = item("a dog", "a cat", simpler=("a", "b", None))
        assert validation.compute([bare], **HOW)["overall"] == {
            "name": "overall",
            "test": None,
            "n_items": 1,
            "n_valid": None,
            "n_unanimous": None,
            "n_valid_proficiency": None,
            "n_both": None,
            "n_lexical_items": 2,
            "js_all": pytest.approx(math.sqrt(1 / 2)),
            "js_valid": None,
            "js_all_at_size_of_valid": None,
            "alpha_all": None,
            "alpha_valid": None,
            "alpha_coding": "truth3",
            "alpha_all_ci": None,
            "alpha_valid_ci": None,
            "alpha_all_ci_undefined": None,
            "alpha_valid_ci_undefined": None,
            "alpha_all_reason": NOTHING_SHARED,
            "alpha_valid_reason": NOTHING_SHARED,
            "votes": {"caption": 0, "foil": 0, "other": 0},
            "proficiency": {"n_items": 1, "n_valid": None, "n_lexical_items": 2, "js_all": 1.0, "js_valid": None},
        }

    def test_both_valid_is_reported_only_if_both_were_judged(self):
        main = item("a", "b", votes=(3, 0, 0), valid=True, unanimous=True, simpler=("a", "c", None))
        simple = item("a", "b", simpler=("a", "c", True))
        for each in (main, simple):
            assert validation.compute([each], **HOW)["overall"]["n_both"] is None
        assert validation.compute([main, simple], **HOW)["overall"]["n_both"] == 0

    def test_one_three_way_count_collapses_all_to_three(self):
        mixed = [item("a", "b", votes=(2, 1, 1, 1, 1), valid=True), item("a", "b", votes=(1, 1, 2), valid=True)]
        found = validation.compute(mixed, **HOW)["overall"]
        assert (found["alpha_coding"], found["votes"]) == ("truth3", {"caption": 3, "foil": 2, "other": 5})

    def test_draws_and_seed_reach_the_intervals_and_the_sample(self):
        generator = np.random.default_rng(1)
        words = [f"w{k}" for k in range(9)]
        items = [
            item(
                " ".join(generator.choice(words, 3)),
                " ".join(generator.choice(words, 2)),
                name=f"i{k:02d}",
                votes=tuple(generator.multinomial(3, [0.5, 0.3, 0.2]).tolist()),
                valid=k % 2 == 0,
            )
            for k in range(60)
        ]
        # Items come in any order; the sample is drawn in the order of their names.
        found = validation.compute(items[::-1], **HOW)["overall"]
        for part, interval in ((items, "alpha_all_ci"), (items[::2], "alpha_valid_ci")):
            tallies = np.array([each.tallies[0] for each in part])
            assert found[interval] == alpha(tallies, **HOW).interval
            assert all(found[interval] != alpha(tallies, **other).interval for other in OTHERS)
        drawn = [js_divergence(*word_counts(random.Random(seed).sample(items, 30))) for seed in range(5, 9)]
        assert found["js_all_at_size_of_valid"] == drawn[0]
        assert len(set(drawn)) == 4

    def test_missing_items_stop_the_report(self):
        said = r"^there are no items to report on; import or assemble some first$"
        with pytest.raises(EvaluationError, match=said):
            validation.compute([])


class TestSkill:
    # By majority: w caption, x cannot tell, v foil; z and y are undecided, and n has a nameless vote alone.
    VOTES = votes_among(
        "w n z x y v",
        "bob ann zoe cy dot",
        ("w", "bob", "caption"),
        ("w", "ann", "caption"),
        ("w", "cy", "foil"),
        ("w", "", "foil"),
        ("n", "", "both"),
        ("z", "bob", "caption"),
        ("z", "ann", "foil"),
        ("x", "bob", "cannot_tell"),
        ("x", "ann", "cannot_tell"),
        ("x", "cy", "cannot_tell"),
        ("y", "cy", "caption"),
        ("y", "bob", "foil"),
        ("y", "dot", "neither"),
        ("v", "bob", "foil"),
        ("v", "cy", "foil"),
        ("v", "ann", "caption"),
    )
    # Numbered without a gap, n and zoe left out: units w, z, x, y, v; people bob, ann, cy, dot; labels as in SAID.
    UNITS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    PEOPLE = np.array([0, 1, 2, 0, 1, 0, 1, 2, 2, 0, 3, 0, 2, 1])
    LABELS = np.array([0, 0, 1, 0, 1, 3, 3, 3, 0, 1, 2, 1, 1, 0])
    SAID = ("caption", "foil", "neither", "cannot_tell")
    TALLIES = {
        "w": {"caption": 2, "foil": 1},
        "z": {"caption": 1, "foil": 1},
        "x": {"cannot_tell": 3},
        "y": {"caption": 1, "foil": 1, "neither": 1},
        "v": {"caption": 1, "foil": 2},
    }
    MAJORITY = ("caption", None, "cannot_tell", None, "foil")

    @pytest.fixture
    def fit(self):
        return _crowd.dawid_skene(self.UNITS, self.PEOPLE, self.LABELS)

    def verdicts(self, fit):
        weighted = [self.SAID[k] for k in fit.posterior.argmax(axis=1)]
        return {"majority": list(self.MAJORITY), "dawid_skene": weighted}

    def differing(self, fit):
        verdicts = self.verdicts(fit)
        rows = [
            {
                "unit": unit,
                "votes": self.TALLIES[unit],
                **{name: found[k] for name, found in verdicts.items()},
                "p_dawid_skene": fit.posterior[k].max(),
            }
            for k, unit in enumerate(self.TALLIES)
            if len({found[k] for found in verdicts.values()}) > 1
        ]
        return sorted(rows, key=lambda row: (-row["p_dawid_skene"], row["unit"]))

    def test_the_whole_result(self, fit):
        rows = [
            {
                "method": name,
                **{said: found.count(said) for said in (*self.SAID, "both")},
                "none": found.count(None),
                "turned": sum(of_most not in (None, one) for one, of_most in zip(found, self.MAJORITY, strict=True)),
                "decided_where_majority_is_none": 0 if name == "majority" else 2,
            }
            for name, found in self.verdicts(fit).items()
        ]
        # bob was with the majority each time; ann and cy in two of three; of dot's unit there is none.
        people = [("bob", 5, 1.0), ("ann", 4, pytest.approx(2 / 3)), ("cy", 4, pytest.approx(2 / 3)), ("dot", 1, None)]
        skills = [
            {
                "annotator": name,
                "n_votes": n,
                "agreement": agreement_,
                "dawid_skene": fit.skill[k],
            }
            for k, (name, n, agreement_) in enumerate(people)
        ]
        assert len(self.differing(fit)) > 1
        assert skill.compute(self.VOTES) == {
            "coding": "truth",
            "n_votes": 14,
            "n_nameless": 2,
            "n_units": 5,
            "n_annotators": 4,
            "verdicts": rows,
            "annotators": sorted(skills, key=lambda row: (row["dawid_skene"], row["annotator"])),
            "n_differing": len(self.differing(fit)),
            "differing": self.differing(fit),
        }

    def test_units_beyond_the_limit_are_only_counted(self, fit, monkeypatch):
        monkeypatch.setattr(skill, "MAX_DIFFERING", 1)
        found = skill.compute(self.VOTES)
        assert (found["n_differing"], found["differing"]) == (len(self.differing(fit)), self.differing(fit)[:1])

    def test_the_whole_result_of_one_category(self):
        found = skill.compute(votes_among("a", "bob ann", ("a", "bob", "foil"), ("a", "ann", "foil")))
        verdict = {"caption": 0, "foil": 1, "neither": 0, "both": 0, "cannot_tell": 0, "none": 0, "turned": 0}
        assert found == {
            "coding": "truth",
            "n_votes": 2,
            "n_nameless": 0,
            "n_units": 1,
            "n_annotators": 2,
            "verdicts": [
                {"method": name, **verdict, "decided_where_majority_is_none": 0} for name in ("majority", "dawid_skene")
            ],
            "annotators": [
                {"annotator": name, "n_votes": 1, "agreement": 1.0, "dawid_skene": 1.0} for name in ("ann", "bob")
            ],
            "n_differing": 0,
            "differing": [],
        }

    def test_invalid_input_is_reported(self, monkeypatch):
        said = r"^the coding `shown` holds positions, not what is true of an item; use truth or truth3$"
        with pytest.raises(EvaluationError, match=said):
            skill.compute(self.VOTES, coding="shown")
        said = r"^these votes name no annotators, which Dawid-Skene needs; give votes with names$"
        with pytest.raises(EvaluationError, match=said):
            skill.compute(votes_among("a", "ann", ("a", "", "foil")))
        said = r"^one annotator cast all votes; skill needs votes of at least two annotators$"
        with pytest.raises(EvaluationError, match=said):
            skill.compute(votes_among("a", "ann bob", ("a", "ann", "foil"), ("a", "", "caption")))
        monkeypatch.setattr(skill, "find_spec", lambda name: None if name == "crowdkit" else name)
        with pytest.raises(EvaluationError, match=r"^crowd-kit is not installed; pip install 'foilworks\[models\]'$"):
            skill.compute(self.VOTES)


class TestCrowd:
    # Units, annotators and labels appear in another order than that of their codes.
    ROWS = np.array(
        [
            (2, 1, 2),
            (2, 0, 2),
            (2, 2, 1),
            (0, 1, 0),
            (0, 0, 0),
            (0, 2, 0),
            (1, 0, 1),
            (1, 1, 1),
            (1, 2, 2),
            (4, 2, 0),
            (4, 0, 1),
            (4, 1, 1),
            (3, 1, 2),
            (3, 0, 0),
            (3, 2, 0),
        ]
    )

    def test_dawid_skene_equals_crowd_kits(self):
        names = pd.DataFrame({"task": self.ROWS[:, 0], "worker": self.ROWS[:, 1], "label": self.ROWS[:, 2]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = DawidSkene(_crowd.ITERATIONS).fit(names.map(lambda code: f"n{code}"))
        found = _crowd.dawid_skene(*self.ROWS.T)
        posterior = [[model.probas_.loc[f"n{unit}", f"n{label}"] for label in range(3)] for unit in range(5)]
        right = [
            sum(
                model.priors_[f"n{label}"] * model.errors_[f"n{label}"].get((f"n{person}", f"n{label}"), 0.0)
                for label in range(3)
            )
            for person in range(3)
        ]
        np.testing.assert_allclose(found.posterior, posterior, atol=1e-9)
        np.testing.assert_allclose(found.skill, right, atol=1e-9)
        np.testing.assert_allclose(found.posterior.sum(axis=1), 1, rtol=0, atol=1e-15)

    def test_other_warnings_than_those_of_pandas_are_shown(self):
        with _crowd._quiet():
            for kind in (FutureWarning, DeprecationWarning):
                warnings.warn("to be left out", kind, stacklevel=1)
            with pytest.raises(UserWarning, match=r"^to be heard$"):
                warnings.warn("to be heard", UserWarning, stacklevel=1)


def scored(facts, clusters, categories=None, **models):
    """Models from lists of [caption, foil...]; an empty list is an item that the model lacks."""
    tables = {name: padded(rows) for name, rows in models.items()}
    return ScoredItems([f"i{k}" for k in range(len(facts))], clusters, facts, tables, categories or {})


VIDEOS = ["u", "u", "v", "w", "w"]


def histogram(*places):
    """The shares of values that stand in these bins."""
    return (np.bincount(places, minlength=delta.BINS) / len(places)).tolist()


class TestDelta:
    # Changes of m: object -2, -.75, .25, action .25, and 1 and 1.5 of no kind. Of narrow: object 1 and 0, of no kind 0.
    FACTS = [{"edited": ["object", "action", "more"]}, {"edited": "object"}, {"edited": ("object",)}, {"edited": 7}, {}]
    ITEMS = scored(
        FACTS,
        VIDEOS,
        {"m": "image"},
        m=[[3, 1, 3.25], [1, 0.25], [0, 0.25, 1], [0, 1.5], []],
        narrow=[[1, 2], [], [2, 2], [1, 1], []],
    )

    def row(self, values, clusters, **more):
        columns = np.column_stack([values, np.array(values) > 0]).astype(float)
        found = mean_intervals(columns, clusters, **HOW)
        return {**more, "n": len(values), "ci": found[0], "above_zero_ci": found[1]}

    def test_the_whole_result(self):
        wide, unit = np.linspace(-2, 2, 41).tolist(), np.linspace(-1, 1, 41).tolist()
        m = {"model": "m", "category": "image", "edges": wide}
        narrow = {"model": "narrow", "category": "", "edges": unit}
        nothing = {
            "mean": None,
            "magnitude": None,
            "median": None,
            "above_zero": None,
            "n": 0,
            "ci": None,
            "above_zero_ci": None,
            "shares": [],
        }
        assert delta.compute(self.ITEMS, **HOW) == {
            "rows": [
                self.row(
                    [0.25],
                    ["u"],
                    **m,
                    group="action",
                    mean=0.25,
                    magnitude=0.25,
                    median=0.25,
                    above_zero=1.0,
                    shares=histogram(22),
                ),
                self.row(
                    [-2, -0.75, 0.25],
                    ["u", "u", "v"],
                    **m,
                    group="object",
                    mean=-2.5 / 3,
                    magnitude=1.0,
                    median=-0.75,
                    above_zero=1 / 3,
                    shares=histogram(0, 12, 22),
                ),
                self.row(
                    [-2, 0.25, -0.75, 0.25],
                    ["u", "u", "u", "v"],
                    **m,
                    group="all",
                    mean=-2.25 / 4,
                    magnitude=3.25 / 4,
                    median=-0.25,
                    above_zero=0.5,
                    shares=histogram(0, 22, 12, 22),
                ),
                {**narrow, "group": "action", **nothing},
                *(
                    self.row(
                        [1, 0],
                        ["u", "v"],
                        **narrow,
                        group=name,
                        mean=0.5,
                        magnitude=0.5,
                        median=0.5,
                        above_zero=0.5,
                        shares=histogram(39, 20),
                    )
                    for name in ("object", "all")
                ),
            ],
            "kinds": ["action", "object"],
            "unit": "the model's own",
            "hard_foils": {},
        }

    def test_a_single_kind_is_not_repeated_as_all(self):
        found = delta.compute(scored([{"edited": "object"}] * 2, ["u", "v"], m=[[1, 0], [0, 1]]), **HOW)
        assert (found["kinds"], [row["group"] for row in found["rows"]]) == (["object"], ["object"])

    def test_without_changes_bins_reach_from_minus_one_to_one(self):
        items = scored([{"edited": "object"}], ["u"], flat=[[2, 2]], absent=[[float("nan"), float("nan")]])
        flat, absent = delta.compute(items, **HOW)["rows"]
        assert flat["edges"] == absent["edges"] == np.linspace(-1, 1, 41).tolist()
        assert (flat["n"], flat["shares"], absent["n"]) == (1, histogram(20), 0)

    def test_draws_and_seed_reach_the_intervals_over_videos(self):
        values = np.random.default_rng(3).normal(size=40)
        clusters = [f"v{k // 2}" for k in range(40)]
        items = scored([{"edited": "object"}] * 40, clusters, m=[[0.0, value] for value in values])
        (row,) = delta.compute(items, **HOW)["rows"]
        columns = np.column_stack([values, values > 0])
        assert [row["ci"], row["above_zero_ci"]] == mean_intervals(columns, clusters, **HOW)
        for other in OTHERS:
            assert row["ci"] != mean_intervals(columns, clusters, **other)[0]
        assert row["ci"] != mean_intervals(columns, None, **HOW)[0]

    def test_every_item_has_its_facts(self):
        items = scored([{"edited": "object"}], ["u"], m=[[1, 0]])
        with pytest.raises(ValueError, match="argument 2 is longer"):
            delta.compute(replace(items, facts=[*items.facts, {}]), **HOW)

    def test_invalid_input_is_reported(self):
        with pytest.raises(EvaluationError, match=r"^no model has scores; score one first$"):
            delta.compute(scored(self.FACTS, VIDEOS))
        beside = r"give it as a fact of the items \(or next to the scores in the file\)"
        said = rf"^no item has the fact: kind of edit \(`edited`\); {beside}$"
        with pytest.raises(EvaluationError, match=said):
            delta.compute(scored([{}], ["u"], m=[[1, 0]]))


class TestAccuracyByGroup:
    # Credits of m: right, tied with one, wrong, right; not scored. Texts: 2, 3, 2, 2.
    ITEMS = scored(
        [{}] * 5,
        VIDEOS,
        {"m": "video"},
        m=[[2, 1], [1, 1, 0], [0, 1], [1, 0], []],
        other=[[], [], [], [], [1, 0]],
    )
    GROUPS = {"most": np.array([1, 1, 1, 0, 1], dtype=bool), "one": np.array([0, 0, 0, 1, 0], dtype=bool)}

    def test_the_whole_result(self):
        (interval,) = mean_intervals(np.array([[1], [0.5], [0]]), VIDEOS[:3], **HOW)
        nothing = {"accuracy": None, "ci": None, "t_ci": None, "n": 0, "chance": None}
        assert _scored.by_group(self.ITEMS, self.GROUPS, "half", **HOW) == [
            {
                "model": "m",
                "category": "video",
                "group": "most",
                "accuracy": 0.5,
                "ci": interval,
                "t_ci": t_interval(np.array([1, 0.5, 0]), VIDEOS[:3]),
                "n": 3,
                "chance": pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3),
            },
            {
                "model": "m",
                "category": "video",
                "group": "one",
                "accuracy": 1.0,
                "ci": None,
                "t_ci": None,
                "n": 1,
                "chance": 0.5,
            },
            {
                "model": "other",
                "category": "",
                "group": "most",
                "accuracy": 1.0,
                "ci": None,
                "t_ci": None,
                "n": 1,
                "chance": 0.5,
            },
            {"model": "other", "category": "", "group": "one", **nothing},
        ]

    def test_the_requested_tie_policy_applies(self):
        found = [_scored.by_group(self.ITEMS, self.GROUPS, ties, **HOW)[0] for ties in ("strict", "optimistic")]
        assert [row["accuracy"] for row in found] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]

    def test_draws_and_seed_reach_the_interval_over_videos(self):
        credit = np.random.default_rng(6).random(40)
        clusters, every = [f"v{k // 3}" for k in range(40)], np.ones(40, dtype=bool)
        found = _scored.share(credit, clusters, every, **HOW)
        assert [found["ci"]] == mean_intervals(credit[:, None], clusters, **HOW)
        assert all(found["ci"] != _scored.share(credit, clusters, every, **other)["ci"] for other in OTHERS)

    def test_a_caption_without_rivals_is_chosen(self):
        scores = padded([[1.0], [0.0, 1.0], []])
        for found, expected in ((_scored.credits(scores), [1.0, 0.0]), (_scored.chance(scores), [1.0, 0.5])):
            assert found[:2].tolist() == expected
            assert np.isnan(found[2])
