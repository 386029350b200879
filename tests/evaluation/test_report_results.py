"""Whole results of the reports on people and data, word for word: pages and exports read them by these names."""

from dataclasses import replace

import numpy as np
import pytest

from annotation.rules.objects import CheckedObject
from evaluation.analyses import funnel, identity, objects, people, position
from evaluation.analyses.funnel import FunnelCounts
from evaluation.analyses.people import WorkFacts
from evaluation.analyses.scored_items import ScoredItems
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import bootstrap, cluster_sums, mean_intervals, t_interval, wilson
from evaluation.score_files.scores import padded
from tests.evaluation.builders import votes_of

HOW = {"draws": 60, "seed": 5}


def intervals(*columns, clusters):
    return mean_intervals(np.array(columns, dtype=float).T, clusters, **HOW)


def interval(values, clusters):
    return intervals(values, clusters=clusters)[0]


class TestPeople:
    def test_the_whole_result(self):
        work = [
            WorkFacts("bob", "review", 4.0, 0.5),
            WorkFacts("ann", "validation"),
            WorkFacts("cy", "review", 2.0, None, late=True),
            WorkFacts("bob", "review", 8.0, 1.0, counted=False, simulated=True),
            WorkFacts("bob", "review", None, 0.75, late=True),
            WorkFacts("ann", "review", 1.0),
        ]
        one = {"simulated": False, "n": 1, "n_counted": 1, "n_late": 0, "median_seconds": None, "median_covered": None}
        # By stage, most work first, then by name.
        assert people.compute(work) == {
            "people": [
                {
                    "person": "bob",
                    "stage": "review",
                    "simulated": True,
                    "n": 3,
                    "n_counted": 2,
                    "n_late": 1,
                    "median_seconds": 6.0,
                    "median_covered": 0.75,
                },
                {**one, "person": "ann", "stage": "review", "median_seconds": 1.0},
                {**one, "person": "cy", "stage": "review", "n_late": 1, "median_seconds": 2.0},
                {**one, "person": "ann", "stage": "validation"},
            ],
            "n_people": 3,
            "n_pieces": 6,
        }

    def test_work_of_one_person_between_that_of_others_is_one_row(self):
        work = [WorkFacts(person, "review") for person in ("zoe", "ann", "zoe")]
        assert [(row["person"], row["n"]) for row in people.compute(work)["people"]] == [("zoe", 2), ("ann", 1)]


class TestFunnel:
    def test_the_whole_result(self):
        counts = FunnelCounts(
            captions=9,
            made=8,
            passed=7,
            accepted=6,
            items=5,
            valid=4,
            unanimous=3,
            released=2,
            rejected_by={"b": 1, "a": 1, "c": 3},
            candidate_states={"queued": 1},
            item_states={"valid": 4},
        )
        assert funnel.compute(counts) == {
            "captions": 9,
            "stages": [
                {"name": "candidates made", "count": 8},
                {"name": "passed the filters", "count": 7},
                {"name": "accepted in review", "count": 6},
                {"name": "items", "count": 5},
                {"name": "valid", "count": 4},
                {"name": "unanimous", "count": 3},
                {"name": "released", "count": 2},
            ],
            "rejected_by": [
                {"filter": "c", "count": 3},
                {"filter": "a", "count": 1},
                {"filter": "b", "count": 1},
            ],
            "candidate_states": {"queued": 1},
            "item_states": {"valid": 4},
        }


class TestPosition:
    # The caption in place 1 chosen, or the foil while it stood in place 2: the first text.
    VOTES = votes_of(
        ("w", "ann", "caption", 0),
        ("x", "ann", "caption", 1),
        ("x", "bob", "caption", 2),
        ("x", "cy", "foil", 1),
        ("y", "ann", "foil", 2),
        ("y", "bob", "neither", 1),
        ("z", "bob", "foil", 2),
        ("z", "dee", "both", 1),
        ("v", "ann", "caption", 1),
    )

    def test_the_whole_result(self):
        assert position.compute(self.VOTES, **HOW) == {
            "first_share": 4 / 6,
            "ci": interval((1, 0, 0, 1, 1, 1), list("xxxyzv")),
            "n": 6,
            "caption_first_share": 5 / 8,
            "n_without_position": 1,
            "annotators": [
                {"annotator": "ann", "n": 3, "first_share": 1.0, "ci": wilson(3, 3)},
                {"annotator": "bob", "n": 2, "first_share": 1 / 2, "ci": wilson(1, 2)},
                {"annotator": "cy", "n": 1, "first_share": 0.0, "ci": wilson(0, 1)},
                {"annotator": "dee", "n": 0, "first_share": None, "ci": None},
            ],
        }

    def test_draws_and_seed_reach_the_interval(self):
        first = np.arange(40) % 3 == 0
        votes = votes_of(*((f"u{k}", "ann", "caption", 1 if each else 2) for k, each in enumerate(first)))
        one = position.compute(votes, **HOW)["ci"]
        assert one == interval(first, None)
        assert one != position.compute(votes, draws=60, seed=6)["ci"]

    def test_votes_of_files_have_no_positions(self):
        assert position.compute(votes_of(("x", "ann", "caption", 0), ("y", "ann", "foil", 0))) == {
            "first_share": None,
            "ci": None,
            "n": 0,
            "caption_first_share": None,
            "n_without_position": 2,
            "annotators": [{"annotator": "ann", "n": 0, "first_share": None, "ci": None}],
        }


class TestObjects:
    # Of two checks: frame, seen, class. Check 10 comes behind check 9.
    SHOWN = [
        CheckedObject(check, frame, 1, 0, "cup", not error, error.strip("?"))
        for check, frame, error in (
            (10, 1, ""),
            (10, 1, "hallucination"),
            (10, 2, "attribute"),
            (10, 2, "hallucination"),
            (9, 3, ""),
            (9, 3, ""),
            (9, 4, "?"),
            (9, 5, "mistake"),
            (9, 5, "misclassification"),
            (9, 6, "other"),
        )
    ]
    UNSEEN = [each for each in SHOWN if not each.seen]

    def row(self, name, rows, n_frames, n_visible, n_unclassed):
        invented = [each.error_class == "hallucination" for each in rows]
        seen, frames = [each.seen for each in rows], [str(each.frame) for each in rows]
        visible_ci, invented_ci = intervals(seen, invented, clusters=frames)
        return {
            "name": name,
            "n_frames": n_frames,
            "n_objects": len(rows),
            "n_visible": n_visible,
            "visible": n_visible / len(rows),
            "visible_ci": visible_ci,
            "n_unseen": len(rows) - n_visible,
            "n_unclassed": n_unclassed,
            "hallucination_rate": sum(invented) / len(rows),
            "hallucination_rate_ci": invented_ci,
        }

    def share_ci(self, name, rows):
        return interval([each.error_class == name for each in rows], [str(each.frame) for each in rows])

    def class_row(self, name, n):
        return {
            "class": name,
            "n": n,
            "share_of_unseen": n / 7,
            "share_of_unseen_ci": self.share_ci(name, self.UNSEEN),
            "share": n / 10,
            "share_ci": self.share_ci(name, self.SHOWN),
        }

    def test_the_whole_result(self):
        assert objects.compute(self.SHOWN, **HOW) == {
            "overall": self.row("overall", self.SHOWN, 6, 3, 1),
            "checks": [self.row("9", self.SHOWN[4:], 4, 2, 1), self.row("10", self.SHOWN[:4], 2, 1, 0)],
            "classes": [
                self.class_row("attribute", 1),
                self.class_row("misclassification", 1),
                self.class_row("hallucination", 2),
                self.class_row("mistake", 1),
                self.class_row("other", 1),
            ],
        }

    def test_if_all_objects_are_visible_there_are_no_shares_of_the_rest(self):
        seen = [each for each in self.SHOWN if each.seen]
        nothing = {"n": 0, "share_of_unseen": None, "share_of_unseen_ci": None, "share": 0.0}
        nothing["share_ci"] = pytest.approx([0.0, 1 - 0.025 ** (1 / len({each.frame for each in seen}))])
        assert objects.compute(seen, **HOW)["classes"] == [{"class": name, **nothing} for name in objects.CLASSES]

    def test_an_unchecked_project_is_reported(self):
        said = r"^no frame has been checked yet; start an object check on the Studies page$"
        with pytest.raises(EvaluationError, match=said):
            objects.compute([])


class TestIdentity:
    # Four clips. Known: all but the last; rare: the first four. The image model has not scored the second item.
    FACTS = [{"original_frequency": f, "swapped_frequency": 10} for f in (1, 2, 5, 9, 10, 20, 30, 40)] + [{}]
    CLIPS = list("uuvwxxwvu")
    VIDEO = [[2, 1], [1, 2], [1, 1], [1, 2], [2, 1], [2, 1, 0], [1, 2], [2, 1], [2, 1]]
    IMAGE = [[1, 2], [], [2, 1], [1, 2], [2, 1], [2, 1], [2, 1], [2, 1], [2, 1]]
    ITEMS = ScoredItems(
        list("abcdefghi"), CLIPS, FACTS, {"clip": padded(IMAGE), "film": padded(VIDEO)}, {"clip": "image"}
    )

    def row(self, model, category, group, credit, clips, chance):
        return {
            "model": model,
            "category": category,
            "group": group,
            "accuracy": sum(credit) / len(credit),
            "ci": interval(credit, clips),
            "t_ci": t_interval(np.array(credit, dtype=float), clips),
            "n": len(credit),
            "chance": pytest.approx(chance),
        }

    def gap(self, model, category, credit, rare, clips):
        columns = np.array([credit, np.ones(len(credit)), credit * rare, rare], dtype=float).T

        def difference(sums):
            return np.array([a / b - (c / d if d else np.nan) for a, b, c, d in sums])

        return {
            "model": model,
            "category": category,
            "difference": difference([columns.sum(axis=0)])[0],
            "ci": bootstrap(cluster_sums(columns, clips), difference, **HOW),
            "n": len(credit),
            "n_rare": int(rare.sum()),
        }

    @pytest.mark.parametrize(("ties", "tied"), [("half", 0.5), ("strict", 0.0)])
    def test_the_whole_result(self, ties, tied):
        image, clips = np.array([0, 1, 0, 1, 1, 1, 1]), list("uvwxxwv")
        video = np.array([1, 0, tied, 0, 1, 1, 0, 1])
        found = identity.compute(self.ITEMS, ties=ties, **HOW)
        # Frequent identities and bins: tests/evaluation/test_hard_foils.py and the papers' analyses.
        rows = [row for row in found["rows"] if row["group"] != "frequent"]
        assert {"rows": rows, "differences": found["differences"]} == {
            "rows": [
                self.row("clip", "image", "overall", image, clips, 1 / 2),
                self.row("clip", "image", "rare", image[:3], clips[:3], 1 / 2),
                self.row("film", "", "overall", video, self.CLIPS[:8], (7 / 2 + 1 / 3) / 8),
                self.row("film", "", "rare", video[:4], self.CLIPS[:4], 1 / 2),
            ],
            "differences": [
                self.gap("clip", "image", image, np.arange(7) < 3, clips),
                self.gap("film", "", video, np.arange(8) < 4, self.CLIPS[:8]),
            ],
        }

    def test_a_model_that_scored_no_rare_item_has_no_difference(self):
        items = replace(self.ITEMS, facts=[{"original_frequency": 9, "swapped_frequency": [1, 2]}] * 9)
        nothing = {"difference": None, "ci": None, "n_rare": 0}
        assert identity.compute(items, **HOW)["differences"] == [
            {"model": "clip", "category": "image", "n": 8, **nothing},
            {"model": "film", "category": "", "n": 9, **nothing},
        ]

    def test_unknown_frequencies_are_reported(self):
        said = (
            r"^no item has the fact: train frequencies \(`original_frequency`, `swapped_frequency`\); give it as a "
            r"fact of "
            r"the items \(or next to the scores in the file\)$"
        )
        with pytest.raises(EvaluationError, match=said):
            identity.compute(replace(self.ITEMS, facts=[{}] * 9), **HOW)
