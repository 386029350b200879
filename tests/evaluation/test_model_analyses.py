"""Analyses of models, corpora and edits, each by hand."""

import json
import math

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.analyses import counts, delta, identity, length, numbers, proximity, verbs
from evaluation.analyses.analysis_inputs import EditFacts
from evaluation.analyses.scored_items import ScoredItems, credits
from evaluation.errors import EvaluationError
from evaluation.metrics import pairwise
from evaluation.score_files.analysis_files import read_corpus, read_edits, read_scored
from evaluation.score_files.scores import padded
from foilworks.core.text.errors import ActionableError
from tests.evaluation.builders import pair_scores

DRAWS = 200


def scored(facts, categories=None, clusters=None, **models) -> ScoredItems:
    """Models from lists of [caption, foil...]; an empty list is an item that the model lacks."""
    n = len(facts)
    names = [f"i{k:02d}" for k in range(n)]
    tables = {name: padded(rows) for name, rows in models.items()}
    return ScoredItems(names, clusters or names, facts, tables, categories or {})


def right_or_wrong(flags):
    return [[1.0, 0.0] if flag else [0.0, 1.0] for flag in flags]


def rows_of(result, model="m"):
    return {row["group"]: row for row in result["rows"] if row["model"] == model}


class TestDelta:
    def test_by_hand(self):
        # Objects: -.5, -.3; actions: -.1, +.2, -.2.
        facts = [{"edited": "object"}] * 2 + [{"edited": "action"}] * 3
        items = scored(facts, m=[[0.7, 0.2], [0.6, 0.3], [0.5, 0.4], [0.3, 0.5], [0.6, 0.4]])
        rows = rows_of(delta.compute(items, draws=DRAWS))
        assert rows["object"]["mean"] == pytest.approx(-0.4)
        assert rows["action"]["mean"] == pytest.approx(-0.1 / 3)
        assert rows["action"]["magnitude"] == pytest.approx(0.5 / 3)
        assert rows["action"]["above_zero"] == pytest.approx(1 / 3)
        assert rows["all"]["n"] == 5
        assert rows["all"]["median"] == pytest.approx(-0.2)
        assert sum(rows["all"]["shares"]) == pytest.approx(1)

    def test_each_foil_has_its_own_kind_and_zero_is_an_edge(self):
        items = scored([{"edited": ["object", "action"]}], m=[[0.5, 0.1, 0.9]])
        rows = rows_of(delta.compute(items, draws=DRAWS))
        assert rows["object"]["mean"] == pytest.approx(-0.4)
        assert rows["action"]["mean"] == pytest.approx(0.4)
        assert 0.0 in rows["all"]["edges"]
        below = sum(s for s, e in zip(rows["all"]["shares"], rows["all"]["edges"][1:], strict=True) if e <= 0)
        assert below == 0.5

    def test_a_constant_model_has_no_change(self):
        row = rows_of(delta.compute(scored([{"edited": "object"}] * 3, m=[[0.3, 0.3]] * 3), draws=DRAWS))["object"]
        assert (row["mean"], row["magnitude"], row["above_zero"]) == (0, 0, 0)

    def test_only_the_hard_foil_counts_where_there_is_one(self):
        facts = [
            {"edited": "verb", "hard_foil": 1, "hard_foil_source": "c_label"},
            {"edited": "verb", "hard_foil": -1},
            {"edited": "verb"},
        ]
        items = scored(facts, m=[[0.5, 0.1, 0.6], [0.5, 0.9, 0.9], [0.5, 0.4, 0.4]])
        result = delta.compute(items, draws=DRAWS)
        row = rows_of(result)["verb"]
        assert (row["n"], row["mean"]) == (3, pytest.approx((0.1 - 0.1 - 0.1) / 3))
        assert result["hard_foils"] == {"c_label": 1, "fact": 1}

    def test_without_kinds_there_is_nothing_to_split(self):
        with pytest.raises(EvaluationError, match="kind of edit"):
            delta.compute(scored([{}], m=[[1.0, 0.0]]))


class TestProximity:
    def test_ends_and_antonyms_by_hand(self):
        # 20 items with proximities 0, .05 ... .95, of which the last two are antonyms: 15 % of 18 is 2.7, so 3 each.
        facts = [{"proximity": k / 20, "antonym": k >= 18} for k in range(20)]
        items = scored(facts, m=right_or_wrong([k not in {15, 16, 19} for k in range(20)]))
        result = proximity.compute(items, draws=DRAWS)
        rows = rows_of(result)
        assert {name: row["n"] for name, row in rows.items()} == {
            "antonyms": 2,
            "proximity: high": 3,
            "proximity: low": 3,
        }
        assert rows["antonyms"]["accuracy"] == 0.5
        assert rows["proximity: high"]["accuracy"] == pytest.approx(1 / 3)  # 15, 16 wrong, 17 right
        assert rows["proximity: low"]["accuracy"] == 1
        assert result["cuts"]["proximity"] == {"n": 18, "each": 3, "low_up_to": 0.1, "high_from": 0.75}

    def test_bins_cover_every_item_without_an_antonym(self):
        facts = [{"proximity": k / 10, "antonym": k == 11} for k in range(12)]
        result = proximity.compute(scored(facts, m=right_or_wrong([k > 4 for k in range(12)])), draws=DRAWS)
        assert [(row["n"], row["accuracy"]) for row in result["bins"]] == [
            (3, 0),
            (2, 0),
            (2, 1),
            (2, 1),
            (2, 1),
        ]
        assert result["bins"][0]["group"] == "proximity: 0 to 0.2 (1)"
        assert all(row["ci"][0] <= row["accuracy"] <= row["ci"][1] for row in result["bins"])

    def test_each_encoder_has_its_own_ends(self):
        facts = [{"proximity": {"SBERT": k, "CLIP-text": -k}} for k in range(10)]
        rows = rows_of(proximity.compute(scored(facts, m=right_or_wrong([k < 5 for k in range(10)])), draws=DRAWS))
        assert rows["SBERT: high"]["accuracy"] == 0
        assert rows["CLIP-text: high"]["accuracy"] == 1

    def test_equal_proximities_are_taken_by_id_and_unknown_ones_left_out(self):
        facts = [{"proximity": 0.5}] * 4 + [{}]
        rows = rows_of(proximity.compute(scored(facts, m=right_or_wrong([1, 0, 0, 1, 0])), share=0.25, draws=DRAWS))
        assert (rows["proximity: low"]["accuracy"], rows["proximity: high"]["accuracy"]) == (1, 1)

    def test_it_needs_a_proximity(self):
        with pytest.raises(EvaluationError, match="semantic proximity"):
            proximity.compute(scored([{}], m=[[1.0, 0.0]]))


class TestIdentity:
    def test_overall_rare_and_their_difference_by_hand(self):
        # Rare: the original is seen less often than the swapped one. 4 of 6 right, of the rare 1 of 3.
        facts = [{"original_frequency": f, "swapped_frequency": 10} for f in (1, 5, 9, 10, 11, 99)]
        result = identity.compute(scored(facts, m=right_or_wrong([1, 0, 0, 1, 1, 1])), draws=DRAWS)
        rows = rows_of(result)
        assert rows["overall"]["accuracy"] == pytest.approx(4 / 6)
        assert rows["rare"]["accuracy"] == pytest.approx(1 / 3)
        assert rows["frequent"]["accuracy"] == 1
        assert [row["accuracy"] for row in result["bins"]] == [0.5, 0, 1, 1, 1]
        (gap,) = result["differences"]
        assert gap["difference"] == pytest.approx(4 / 6 - 1 / 3)
        assert (gap["n"], gap["n_rare"]) == (6, 3)
        assert gap["ci"][0] <= gap["difference"] <= gap["ci"][1]

    def test_of_several_foils_the_most_frequent_name_counts(self):
        facts = [{"original_frequency": 5, "swapped_frequency": [1, 9]}, {"original_frequency": 5}]
        result = identity.compute(scored(facts, m=right_or_wrong([1, 1])), draws=DRAWS)
        assert result["differences"][0]["n_rare"] == 1
        assert rows_of(result)["overall"]["n"] == 1

    def test_without_a_rare_item_there_is_no_difference(self):
        facts = [{"original_frequency": 9, "swapped_frequency": 1}]
        (gap,) = identity.compute(scored(facts, m=right_or_wrong([1])), draws=DRAWS)["differences"]
        assert (gap["difference"], gap["n_rare"]) == (None, 0)


class TestCounts:
    def test_by_count_and_over_the_models_of_a_category(self):
        facts = [{"count": c} for c in (1, 1, 3, 3, 10)]
        items = scored(
            facts,
            {"a": "image", "b": "image", "c": "video"},
            a=right_or_wrong([1, 1, 0, 1, 0]),
            b=right_or_wrong([1, 0, 0, 1, 1]),
            c=right_or_wrong([1, 1, 1, 1, 1]),
        )
        result = counts.compute(items, draws=DRAWS)
        assert [row["group"] for row in result["rows"][:3]] == ["1", "3", "10"]
        assert rows_of(result, "a")["1"]["accuracy"] == 1
        bands = {(row["category"], row["group"]): row for row in result["categories"]}
        # Accuracies 1 and .5: mean .75, deviation .25.
        assert (bands["image", "1"]["mean"], bands["image", "1"]["sd"]) == (0.75, 0.25)
        assert bands["video", "1"]["sd"] is None

    def test_unknown_counts_are_left_out(self):
        result = counts.compute(scored([{"count": 2}, {"count": "many"}, {}], m=right_or_wrong([1, 0, 0])), draws=DRAWS)
        assert [(row["group"], row["n"]) for row in result["rows"]] == [("2", 1)]


class TestLength:
    def test_six_groups_of_equal_size(self):
        facts = [{"duration": float(k)} for k in range(1, 13)]
        result = length.compute(scored(facts, m=right_or_wrong([k < 6 for k in range(12)])), draws=DRAWS)
        assert [row["n"] for row in result["rows"]] == [2] * 6
        assert [row["accuracy"] for row in result["rows"]] == [1, 1, 1, 0, 0, 0]
        assert sum(result["histogram"]["counts"]) == 12
        assert result["histogram"]["log10_edges"][-1] == pytest.approx(math.log10(12))

    def test_groups_of_equal_width_in_log_seconds(self):
        facts = [{"duration": 10.0**k} for k in range(7)]
        result = length.compute(scored(facts, m=right_or_wrong([1] * 7)), cut="log", draws=DRAWS)
        assert np.log10(result["edges"]) == pytest.approx([0, 1, 2, 3, 4, 5, 6])
        assert [row["n"] for row in result["rows"]] == [1, 1, 1, 1, 1, 2]

    def test_one_length_is_one_group_and_unknown_ones_are_counted(self):
        facts = [{"duration": 5.0}, {"duration": 5.0}, {"duration": 0.0}, {}]
        result = length.compute(scored(facts, m=right_or_wrong([1, 0, 1, 1])), draws=DRAWS)
        assert [(row["n"], row["accuracy"]) for row in result["rows"]] == [(2, 0.5)]
        assert result["n_unknown"] == 2

    def test_groups_of_nearly_one_length_stay_apart(self):
        facts = [{"duration": 10 + k / 240} for k in range(12)]
        result = length.compute(scored(facts, m=right_or_wrong([1] * 12)), draws=DRAWS)
        assert [row["n"] for row in result["rows"]] == [2] * 6
        assert result["rows"][0]["group"] == "10–10.008 s"

    def test_an_unknown_cut_is_named(self):
        with pytest.raises(EvaluationError, match="unknown cut 'x'"):
            length.compute(scored([{"duration": 1.0}], m=[[1.0, 0.0]]), cut="x")


class TestNumbers:
    def test_by_hand(self):
        corpus = ["A man jumps two times", "Two dogs and 7 cats", "an owl, once", "20 birds", "in 123456 and 0 ways"]
        result = numbers.compute(corpus)
        found = {row["group"]: (row["count"], row["share"]) for row in result["rows"]}
        assert found["2"] == (2, 0.5)
        assert found["6-10"] == (1, 0.25)
        assert found["over 10"] == (1, 0.25)
        assert found["1"] == (0, 0)
        assert (result["n_texts"], result["n_with_number"], result["n_numbers"], result["adverbs"]) == (5, 3, 4, 1)

    def test_without_numbers_there_are_no_shares_and_missing_text_is_reported(self):
        assert numbers.compute(["a dog"])["rows"][0]["share"] is None
        with pytest.raises(EvaluationError, match="no text"):
            numbers.compute([])


class TestVerbs:
    def test_shares_by_hand(self):
        edits = [
            EditFacts("a man cries", "a man laughs", "machine"),
            EditFacts("a man cries", "a man is jumping", "machine"),
            EditFacts("a dog runs", "a dog jumps high", "person"),
            EditFacts("a dog runs", "a dog is not running", "person"),
            EditFacts("a dog runs", "a dog", "person"),
        ]
        result = verbs.compute(edits)
        rows = {row["verb"]: row for row in result["rows"]}
        assert rows["laugh"]["machine"] == 0.5
        # "is jumping" of machines and "jumps" of people are one verb; "is" and "not" are counted apart.
        assert rows["jump"] == {"verb": "jump", "machine": 0.5, "person": 0.5}
        assert rows["run"]["person"] == 0.5
        assert (result["n"], result["total"]) == ({"machine": 2, "person": 3}, {"machine": 2, "person": 2})
        assert result["auxiliaries"] == {"machine": 1, "person": 1}
        assert result["negations"] == {"machine": 0, "person": 1}
        assert result["without_verb"] == {"machine": 0, "person": 1}

    def test_one_source_alone_has_no_divergence(self):
        result = verbs.compute([EditFacts("a", "b", "machine", "go")])
        assert (result["js"], result["rows"][0]["person"], result["n_unknown"]) == (None, None, 0)

    def test_a_source_without_verbs_has_no_shares(self):
        result = verbs.compute([EditFacts("a dog runs", "a dog", "machine"), EditFacts("a", "b", "person", "go")])
        assert (result["n"]["machine"], result["total"]["machine"], result["js"]) == (1, 0, None)

    def test_imported_foils_have_the_author_of_their_subtest(self):
        edits = [EditFacts("a dog runs", f"a dog {verb}", "", subtest=verb) for verb in ("jumps", "sleeps")]
        assert verbs.compute(edits, people="sleeps")["n"] == {"machine": 1, "person": 1}
        assert verbs.compute([*edits, EditFacts("a", "b", "person")])["n_unknown"] == 2
        with pytest.raises(EvaluationError, match="known author"):
            verbs.compute(edits)

    def test_an_unknown_source_is_named(self):
        with pytest.raises(EvaluationError, match="unknown source 'cat'"):
            verbs.compute([EditFacts("a", "b", "cat")])


flags = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=15)


class TestInvariants:
    @settings(max_examples=40, deadline=None)
    @given(flags)
    def test_accuracy_in_a_group_is_that_of_its_items(self, drawn):
        rows = [[float(a), float(b)] for a, b, _ in drawn]
        items = scored([{"count": c} for *_, c in drawn], m=rows)
        for row in counts.compute(items, draws=10)["rows"]:
            own = [scores for scores, (*_, c) in zip(rows, drawn, strict=True) if f"{c}" == row["group"]]
            assert row["accuracy"] == pytest.approx(pairwise.compute(pair_scores(own), draws=10)["overall"]["T"])
            assert row["n"] == len(own)

    @settings(max_examples=40, deadline=None)
    @given(flags, st.randoms(use_true_random=False))
    def test_the_order_of_the_items_changes_nothing(self, drawn, random):
        order = list(range(len(drawn)))
        random.shuffle(order)
        items = self.everything(drawn, range(len(drawn)))
        shuffled = self.everything(drawn, order)
        for analysis in (delta, proximity, identity, counts, length):
            assert analysis.compute(shuffled, draws=20) == analysis.compute(items, draws=20)

    @settings(max_examples=30, deadline=None)
    @given(flags)
    def test_a_constant_model_is_at_chance_and_swapping_gives_the_complement(self, drawn):
        facts = [self.facts(*each) for each in drawn]
        flat = scored(facts, m=[[0.5, 0.5]] * len(drawn))
        straight = scored(facts, m=[[float(a), float(b)] for a, b, _ in drawn])
        turned = scored(facts, m=[[float(b), float(a)] for a, b, _ in drawn])
        for analysis in (proximity, identity, counts, length):
            for row in analysis.compute(flat, draws=10)["rows"]:
                assert row["accuracy"] == row["chance"] or row["n"] == 0
            for one, other in zip(
                analysis.compute(straight, draws=10)["rows"], analysis.compute(turned, draws=10)["rows"], strict=True
            ):
                assert one["n"] == 0 or one["accuracy"] == pytest.approx(1 - other["accuracy"])

    def facts(self, a, b, c):
        return {
            "count": c,
            "duration": float(c),
            "proximity": c / 3,
            "edited": "object" if c > 1 else "action",
            "original_frequency": a,
            "swapped_frequency": b,
        }

    def everything(self, drawn, order):
        names = [f"i{k:02d}" for k in order]
        rows = [[float(drawn[k][0]), float(drawn[k][1])] for k in order]
        facts = [self.facts(*drawn[k]) for k in order]
        return ScoredItems(names, [f"v{k % 3}" for k in order], facts, {"m": padded(rows)}, {})


def test_credits_of_unscored_items_are_nan():
    assert np.isnan(credits(padded([[1.0, 0.0], []]))).tolist() == [False, True]


class TestFiles:
    def test_scores_of_several_models_are_grouped_by_item(self, tmp_path):
        path = tmp_path / "clip.jsonl"
        path.write_text(
            '{"id": "a", "scores": [2, 1], "count": 3, "cluster": "v"}\n'
            '{"id": "b", "scores": [1, 2], "count": 5, "model": "ppl", "higher_is_better": false, "category": "text"}\n'
        )
        items = read_scored([path])
        assert list(items.models) == ["clip", "ppl"]
        assert items.models["ppl"][1].tolist() == [-1, -2]
        assert np.isnan(items.models["clip"][1]).all()
        assert items.categories == {"clip": "", "ppl": "text"}
        assert items.facts == [{"count": 3}, {"count": 5}]
        assert items.clusters == ["cluster v", "item b"]

    def test_a_table_gives_the_same_result_as_lines(self, tmp_path):
        path = tmp_path / "clip.csv"
        path.write_text('"count";"id";"foil_1";"caption";"edited";"cluster"\n3;"a";1;2;"verb";"v"\n5;"b";2;1;;\n')
        items = read_scored([path])
        assert items.models["clip"].tolist() == [[2, 1], [1, 2]]
        assert items.facts == [{"count": 3, "edited": "verb"}, {"count": 5}]
        assert items.clusters == ["cluster v", "item b"]

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ('{"id": "a", "scores": [1]}', "1: scores: has no foil"),
            ('{"id": "a", "scores": [1, 2]}\n{"id": "a", "scores": [1, 2]}', "2: id: 'a' is scored twice"),
            ('{"id": "a", "scores": [1, 2], "higher_is_better": 1}', "1: higher_is_better: is 1"),
            ('{"id": "a", "scores": [1, NaN]}', "1"),
            ("", "file: is empty"),
        ],
    )
    def test_bad_records_are_reported_with_their_place(self, tmp_path, text, what):
        path = tmp_path / "s.jsonl"
        path.write_text(text)
        with pytest.raises(ActionableError, match=what):
            read_scored([path])

    def test_a_corpus_is_text_or_captions(self, tmp_path):
        plain, lines = tmp_path / "c.txt", tmp_path / "c.jsonl"
        plain.write_text("one dog\n\ntwo dogs\n")
        lines.write_text('{"caption": "three dogs"}\n{"text": "four dogs"}\n')
        assert read_corpus([plain, lines]) == ["one dog", "two dogs", "three dogs", "four dogs"]

    def test_edits_name_their_source(self, tmp_path):
        path = tmp_path / "e.jsonl"
        path.write_text('{"caption": "a", "foils": ["b", "c"], "source": "person", "verb": "go"}\n')
        assert read_edits([path]) == [EditFacts("a", "b", "person", "go"), EditFacts("a", "c", "person", "go")]
        path.write_text('{"caption": "a", "foil": "b", "source": "cat"}\n')
        with pytest.raises(EvaluationError, match="1: source: is 'cat'; give machine or person"):
            read_edits([path])

    @pytest.mark.parametrize("as_json", [True, False])
    def test_the_command_reads_them(self, tmp_path, capsys, as_json):
        path = tmp_path / "clip.jsonl"
        lines = [{"id": name, "scores": scores, "edited": "object"} for name, scores in (("a", [2, 1]), ("b", [1, 2]))]
        path.write_text("\n".join(map(json.dumps, lines)))
        call_command("report", "delta", "--file", str(path), *(["--json"] if as_json else []))
        out = capsys.readouterr().out
        if as_json:
            assert json.loads(out)["rows"][0]["above_zero"] == 0.5
        else:
            assert "above_zero" in out
            assert "edges" not in out
        corpus = tmp_path / "c.txt"
        corpus.write_text("two dogs\n")
        call_command("report", "numbers", "--file", str(corpus), "--json")
        assert json.loads(capsys.readouterr().out)["n_numbers"] == 1
