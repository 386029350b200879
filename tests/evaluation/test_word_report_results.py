"""Whole results of the reports on words, word for word: pages, exports and gates read them by these names."""

import math
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest

from evaluation.analyses import blind, jensen_shannon, verbs
from evaluation.analyses.analysis_inputs import EditFacts
from evaluation.analyses.preference import TextScores, preference
from evaluation.analyses.words import js_divergence, n_lexical_items, word_counts
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean_intervals
from foilworks.core.text.tokens import words
from generation.balance.classifier import cue_words, fitted
from tests.evaluation.builders import item

HOW = {"draws": 60, "seed": 5}
NO_ITEMS = r"^there are no items; give at least one caption with a foil$"


def interval(values, clusters, **how):
    return mean_intervals(np.array(values, dtype=float)[:, None], clusters, **(how or HOW))[0]


class TestPreference:
    # Gaps: 2 and a tie (of one caption), -1, 1/2, 1; then a lost pair of a caption met before, and texts without score.
    ITEMS = (
        item("a cat", "no cat", "my cat", subtest="s", valid=True),
        item("a dog", "no dog", subtest="s", valid=False),
        item("a cup", "no cup", subtest="s", valid=True),
        item("a hat", "no hat", subtest="s", valid=True),
        item("A cat!", "no cat", subtest="t", valid=False),
        item("a cat", "a thing", subtest="t", valid=False),
        item("a thing", "a cat", subtest="u", valid=True),
    )
    VALUES = {
        "a cat": 3.0,
        "no cat": 1.0,
        "my cat": 3.0,
        "a dog": 1.0,
        "no dog": 2.0,
        "a cup": 1.5,
        "no cup": 1.0,
        "a hat": 2.0,
        "no hat": 1.0,
        "A cat!": 0.5,
    }
    CAPTIONS = ("cat", "cat", "dog", "cup", "hat", "cat")
    WON = (1, 0.5, 0, 1, 1, 0)
    NOTHING = {"preference": None, "ci": None, "n_pairs": 0, "n_captions": 0, "n_truncated": 0, "n_equal_after_cut": 0}

    def shares(self, places, won, missing, draws=60):
        chosen, captions = [won[k] for k in places], [self.CAPTIONS[k] for k in places]
        ci = interval(chosen, captions, draws=draws, seed=SEED)
        return {
            "preference": sum(chosen) / len(places),
            "ci": ci,
            "n_pairs": len(places),
            "n_captions": len(set(captions)),
            "n_missing": missing,
            "n_truncated": 0,
            "n_equal_after_cut": 0,
        }

    def whole(self, won, draws=60):
        nothing = {**self.NOTHING, "n_missing": 1}
        valid = self.shares([0, 1, 3, 4], won, 0, draws)
        return {
            "subtests": [
                {"name": "s", **self.shares(range(5), won, 0, draws), "valid": valid},
                {"name": "t", **self.shares([5], won, 1, draws), "valid": None},
                {"name": "u", **nothing, "valid": nothing},
            ],
            "overall": {"name": "overall", **self.shares(range(6), won, 2, draws), "valid": {**valid, "n_missing": 1}},
        }

    def test_the_whole_result(self):
        assert preference(self.ITEMS, TextScores(self.VALUES), draws=60) == self.whole(self.WON)

    def test_if_lower_is_better_the_others_win_and_ties_count_half(self):
        lost = [1 - each for each in self.WON]
        scores = TextScores(self.VALUES, higher_is_better=False)
        assert preference(self.ITEMS, scores, draws=60) == self.whole(lost)

    def test_by_default_higher_is_better_and_all_reports_share_the_draws(self):
        assert preference(self.ITEMS, TextScores(self.VALUES)) == self.whole(self.WON, draws=DRAWS)


class TestBlind:
    # Caption, foil, whether the caption has more words. Only captions have the last word of the vocabulary.
    ROWS = (
        ("a dog runs", "a dog sleeps now", 0),
        ("a dog runs", "no dog", 1),
        ("a man opens a red door", "a man closes a red door", 0.5),
        ("a cat runs", "a cat sleeps", 0.5),
        ("she closes a door", "she opens a door", 0.5),
        ("a bird falls down", "a bird runs", 1),
        ("a boy runs", "a boy falls", 0.5),
        ("a girl sleeps", "a girl runs now", 0),
        ("he opens a zebra", "he closes a box", 0.5),
        ("a car falls", "a car opens", 0.5),
        ("they sleep", "they fall", 0.5),
        ("a door closes", "a door opens", 0.5),
    )
    DOG = item("a dog runs", "a dog sleeps now", "no dog", subtest="s", valid=True)
    REST = tuple(item(*pair, subtest="s", valid=k < 7) for k, (*pair, _) in enumerate(ROWS[2:]))
    ALONE = item("a cup breaks", "a cup holds", subtest="t", valid=False)
    ITEMS = (DOG, *REST, ALONE)

    def apart(self, items, seed=5):
        """Counted again in each of 200 resamples of the captions, a caption once an item, however many its foils."""
        names = sorted({each.caption for each in items})
        found = []
        generator = np.random.default_rng(seed)
        for weights in generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=200):
            captions, foils = Counter(), Counter()
            for each in items:
                times = int(weights[names.index(each.caption)])
                captions.update(words(each.caption) * times)
                for foil in each.foils:
                    foils.update(words(foil) * times)
            found.append((js_divergence(captions, foils) or 0.0, n_lexical_items(captions, foils)))
        js, lexical = 1.96 * np.std(found, axis=0, ddof=1)
        counted = word_counts(items)
        here, there = js_divergence(*counted), n_lexical_items(*counted)
        return {
            "js": here,
            "js_ci": here and pytest.approx([here - js, min(1.0, here + js)], rel=1e-9),
            "n_lexical_items": there,
            "n_lexical_items_ci": pytest.approx([there - lexical, there + lexical], rel=1e-9),
        }

    def learnt(self, items):
        pairs = [(each.caption, foil) for each in items for foil in each.foils]
        by_hand = {(caption, foil): longer for caption, foil, longer in self.ROWS}
        longer = [by_hand.get(pair, 0.5) for pair in pairs]
        captions = [caption for caption, _ in pairs]
        return {
            "n_items": len(items),
            "n_pairs": len(items) + 1,
            "n_captions": len(items),
            "caption_longer": sum(longer) / len(longer),
            "caption_longer_ci": interval(longer, captions),
            "n_unjudged": 0,
            "unjudged": [],
            "words": [asdict(word) for word in cue_words(pairs, top=10)],
            "fitted_accuracy": math.fsum(fitted(pairs)) / len(pairs),
            **self.apart(items),
        }

    def test_the_whole_result(self):
        # The solver has tests of its own: here, only whose rows are taken.
        solved, of_valid = blind.solve(self.ITEMS, seed=5), blind.solve(self.ITEMS[:8], seed=5)
        valid = self.learnt(self.ITEMS[:8])
        subtest = {"name": "s", **self.learnt(self.ITEMS[:-1]), **solved["s"]}
        found = blind.compute(self.ITEMS, **HOW)
        assert set(found) == {"subtests", "overall"}
        assert found["subtests"][0] == {**subtest, "valid": {"name": "s", **valid, **of_valid["s"]}}
        whole = {"name": "overall", **self.learnt(self.ITEMS), **solved["overall"]}
        assert found["overall"] == {**whole, "valid": {"name": "overall", **valid, **of_valid["overall"]}}

    def test_these_texts_have_more_words_than_shown(self):
        pairs = [(each.caption, foil) for each in self.ITEMS for foil in each.foils]
        assert len(cue_words(pairs, top=99)) > 10

    def test_one_caption_alone_has_counts_and_no_interval_of_words(self):
        assert blind.compute(self.ITEMS, **HOW)["subtests"][1] == {
            "name": "t",
            "n_items": 1,
            "n_pairs": 1,
            "n_captions": 1,
            "caption_longer": 0.5,
            "caption_longer_ci": None,
            "n_unjudged": 0,
            "unjudged": [],
            "words": [asdict(word) for word in cue_words([("a cup breaks", "a cup holds")])],
            "fitted_accuracy": 1.0,
            **blind.solve(self.ITEMS, seed=5)["t"],
            # Shares of each side: two words of three in common.
            "js": pytest.approx(math.sqrt(1 / 3)),
            "js_ci": None,
            "n_lexical_items": 2,
            "n_lexical_items_ci": None,
            "valid": None,
        }

    def test_two_captions_are_enough_for_intervals_and_js_ends_at_one(self):
        items = [item("a cat sits", "no dog"), item("a hat falls", "the car falls")]
        overall = blind.compute(items, **HOW)["overall"]
        apart = self.apart(items)
        assert {name: overall[name] for name in apart} == apart
        assert overall["js_ci"][1] == 1.0
        assert overall["n_captions"] == 2

    def test_foils_without_words_have_no_js_and_all_caption_words_are_one_sided(self):
        items = [item("a cat sits", "?"), item("a hat", "!"), item("a cup falls down", "...")]
        overall = blind.compute(items, **HOW)["overall"]
        assert (overall["js"], overall["js_ci"], overall["n_lexical_items"]) == (None, None, 7)
        assert overall["n_lexical_items_ci"] == self.apart(items)["n_lexical_items_ci"]

    def test_draws_in_blocks_are_the_draws_at_once(self, monkeypatch):
        (whole,) = blind.compute(self.REST, **HOW)["subtests"]
        # Seven draws a block, four in the last.
        vocabulary = {word for each in self.REST for text in (each.caption, *each.foils) for word in words(text)}
        monkeypatch.setattr(blind, "BLOCK_CELLS", 7 * (len(vocabulary) + len(self.REST)))
        assert blind.compute(self.REST, **HOW)["subtests"][0] == {
            **whole,
            "js_ci": pytest.approx(whole["js_ci"]),
            "n_lexical_items_ci": pytest.approx(whole["n_lexical_items_ci"]),
            "valid": {
                **whole["valid"],
                "js_ci": pytest.approx(whole["valid"]["js_ci"]),
                "n_lexical_items_ci": pytest.approx(whole["valid"]["n_lexical_items_ci"]),
            },
        }

    def test_missing_items_are_reported_by_the_audit(self):
        with pytest.raises(EvaluationError, match=NO_ITEMS):
            blind.compute([])


class TestDivergence:
    # Two foils of the first caption, one of the second; valid: the first alone.
    ITEMS = (
        item("go up now", "go down now", "go left left now", valid=True),
        item("run fast", "run slow", valid=False),
    )

    def test_the_whole_result(self):
        # Captions: go up now run fast; foils: go down now go left left now run slow (9 words).
        assert jensen_shannon.compute(self.ITEMS, base="e", top=3) == {
            "js": pytest.approx(self.js({"go": 2, "now": 2, "run": 1}, 5, 9, 2, 4)),
            "js_valid": pytest.approx(self.js({"go": 2, "now": 2}, 3, 7, 1, 3)),
            "n_lexical_items": 5,
            "n_lexical_items_by_size": 1,
            "caption_vocabulary": 5,
            "foil_vocabulary": 6,
            "top_shifts": [
                {"word": "left", "caption_share": 0.0, "foil_share": 2 / 9, "shift": 2 / 9},
                {"word": "fast", "caption_share": 1 / 5, "foil_share": 0.0, "shift": -1 / 5},
                {"word": "up", "caption_share": 1 / 5, "foil_share": 0.0, "shift": -1 / 5},
            ],
            "base": "e",
            "unit": "words",
            "n_items": 2,
            "n_foils": 3,
            "note": "ViLMA's published JS and #Lex.it. do not follow from this definition on its released files.",
        }

    def js(self, common, n_captions, n_foils, only_captions, only_foils):
        """In base e: a word of one side has half its share in the middle, so its share counts ln 2 times."""
        total = (only_captions / n_captions + only_foils / n_foils) * math.log(2)
        for times in common.values():
            c, f = 1 / n_captions, times / n_foils
            total += c * math.log(2 * c / (c + f)) + f * math.log(2 * f / (c + f))
        return math.sqrt(total / 2)

    def test_the_unit_is_that_of_the_valid_items_too(self):
        items = [item("go up", "go down", valid=True), item("run up", "run up up", valid=False)]
        found = jensen_shannon.compute(items, unit="changed")
        assert (found["js_valid"], found["base"], found["unit"]) == (1.0, "2", "changed")
        # Of one word on each side: all of its share.
        only = jensen_shannon.compute(items[:1], unit="changed")["top_shifts"]
        assert only == [
            {"word": "down", "caption_share": 0.0, "foil_share": 1.0, "shift": 1.0},
            {"word": "up", "caption_share": 1.0, "foil_share": 0.0, "shift": -1.0},
        ]

    def test_twenty_words_are_shown_by_default(self):
        many = " ".join(f"word{k}" for k in range(25))
        assert len(jensen_shannon.compute([item(many, "none")])["top_shifts"]) == 20

    def test_missing_items_are_reported_by_divergence(self):
        with pytest.raises(EvaluationError, match=NO_ITEMS):
            jensen_shannon.compute([])


class TestVerbs:
    def test_the_whole_result(self):
        # Machine: run 2, sit 1, jump 1; person: jump 1, stand 1. In sum: jump 3/4, run and stand 1/2, sit 1/4.
        named = (("machine", "run sit run jump"), ("person", "jump stand"))
        edits = [EditFacts("a", "b", source, verb) for source, said in named for verb in said.split()]
        assert verbs.compute(edits) == {
            "rows": [
                {"verb": "jump", "machine": 1 / 4, "person": 1 / 2},
                {"verb": "run", "machine": 1 / 2, "person": 0.0},
                {"verb": "stand", "machine": 0.0, "person": 1 / 2},
                {"verb": "sit", "machine": 1 / 4, "person": 0.0},
            ],
            # In common 1/4 of one and 1/2 of the other, with the middle 3/8.
            "js": pytest.approx(math.sqrt((3 / 4 + math.log2(2 / 3) / 4 + 1 / 2 + math.log2(4 / 3) / 2) / 2)),
            "n": {"machine": 4, "person": 2},
            "total": {"machine": 4, "person": 2},
            "n_verbs": {"machine": 3, "person": 2},
            **{name: {"machine": 0, "person": 0} for name in ("without_verb", "auxiliaries", "negations")},
            "n_unknown": 0,
            "top_share": {"machine": 1.0, "person": 1.0},
        }
        assert [row["verb"] for row in verbs.compute(edits, top=2)["rows"]] == ["jump", "run"]

    def test_the_ten_most_frequent_verbs_of_one_source_alone(self):
        # "go" twice, eleven others once: ten verbs make up 11 of 13.
        edits = [EditFacts("a man", f"a man {verb}", "machine", verb) for verb in ("go", "go", *"abcdefghijk")]
        found = verbs.compute(edits)
        assert found["top_share"] == {"machine": 11 / 13, "person": None}
        assert found["rows"][0] == {"verb": "go", "machine": 2 / 13, "person": None}
        assert (found["js"], found["n"]) == (None, {"machine": 13, "person": 0})
        assert found["n_verbs"] == {"machine": 12, "person": 0}

    def test_thirty_verbs_are_shown_by_default(self):
        edits = [EditFacts("a man", "a man", "person", f"verb{k}") for k in range(35)]
        assert len(verbs.compute(edits)["rows"]) == 30

    def test_invalid_input_is_reported(self):
        said = r"^there are no foils with a known author; give some made by machines and some made by people, or name "
        with pytest.raises(EvaluationError, match=said):
            verbs.compute([])
        with pytest.raises(EvaluationError, match=r"^unknown source 'cat'; give machine or person$"):
            verbs.compute([EditFacts("a", "b", "dog"), EditFacts("a", "b", "cat")])
