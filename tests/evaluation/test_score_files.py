"""Score files -> arrays, and one clear line for every way in which a file can be wrong."""

import numpy as np
import pytest

from evaluation.score_files.scores import read_choices, read_matrix, read_pairs, read_scores
from foilworks.core.text.errors import ActionableError

GOOD = {"id": "a", "caption": 2.0, "foils": [1, 0]}


class TestPairs:
    def test_a_line_gives_main_proficiency_subtest_test_and_cluster(self, write):
        simpler = {"caption": 0.5, "foils": [0.25]}
        rich = {"id": "b", "caption": 1, "foils": [3], "proficiency": simpler, "subtest": "s", "test": "t"}
        data = read_pairs([write("x.jsonl", GOOD, "", {**rich, "cluster": "v1"})])
        assert data.ids == ["a", "b"]
        np.testing.assert_array_equal(data.main, [[2, 1, 0], [1, 3, np.nan]])
        np.testing.assert_array_equal(data.proficiency, [[np.nan, np.nan], [0.5, 0.25]])
        assert data.subtests == ["x", "s"]
        assert data.tests == ["x", "t"]
        assert data.clusters == ["item a", "cluster v1"]

    def test_vilmas_two_files_are_matched_by_id_and_mismatches_are_listed(self, write):
        main = write("acts.json", {"1": {"scores": [2, 1]}, "2": {"scores": [0, 1]}})
        simpler = write("acts-p.json", {"1": {"scores": [5, 4]}, "9": {"scores": [1, 0]}})
        data, notes = read_scores("pairs", [main], [simpler])
        np.testing.assert_array_equal(data.proficiency, [[5, 4], [np.nan, np.nan]])
        assert notes.unmatched == {"without_proficiency": ["2"], "proficiency_without_item": ["9"]}

    def test_several_files_are_several_subtests_with_ids_of_their_own(self, write):
        one, two = write("one.json", {"0": {"scores": [1, 0]}}), write("two.json", {"0": {"scores": [1, 0]}})
        beside = write("p.json", {"0": {"scores": [1, 0]}, "7": {"scores": [1, 0]}})
        data, notes = read_scores("pairs", [one, two], [beside])
        assert data.ids == ["one/0", "two/0"]
        assert data.subtests == ["one", "two"]
        assert notes.unmatched == {"proficiency_without_item": ["7"]}

    def test_an_id_of_two_subtests_is_two_items_with_pairs_and_clusters_of_their_own(self, write):
        main = write("x.jsonl", *({**GOOD, "id": "1", "subtest": subtest} for subtest in ("up", "down")))
        pair = {"id": "1", "caption": 1, "foils": [0]}
        beside = write(
            "p.jsonl", {**pair, "subtest": "down", "caption": 5}, {**pair, "subtest": "up"}, {**pair, "subtest": "left"}
        )
        data, notes = read_scores("pairs", [main], [beside])
        np.testing.assert_array_equal(data.proficiency, [[1, 0], [5, 0]])
        assert data.clusters == ["item up:1", "item down:1"]
        assert notes.unmatched == {"proficiency_without_item": ["left:1"]}

    def test_a_pair_without_a_subtest_is_refused_if_its_id_is_ambiguous(self, write):
        main = write("x.jsonl", *({**GOOD, "id": name, "subtest": subtest} for name, subtest in ("1u", "1d", "2u")))
        alone = write("p.jsonl", {"id": "2", "caption": 1, "foils": [0]})
        np.testing.assert_array_equal(read_pairs([main], [alone]).proficiency, [[np.nan] * 2, [np.nan] * 2, [1, 0]])
        either = write("q.jsonl", {"id": "1", "caption": 1, "foils": [0]})
        with pytest.raises(ActionableError, match=r"q.jsonl:1: subtest: is missing, and '1' is an id in u, d;"):
            read_pairs([main], [either])

    def test_an_item_that_names_no_subtest_has_the_one_pair_of_its_id(self, write):
        main = write("clip.jsonl", *({**GOOD, "id": name} for name in "123"), {**GOOD, "id": "3", "subtest": "up"})
        pair = {"caption": 1, "foils": [0]}
        places = (("1", "up"), ("2", "up"), ("2", "down"), ("3", "up"))
        beside = write("p.jsonl", *({**pair, "id": name, "subtest": subtest} for name, subtest in places))
        data, notes = read_scores("pairs", [main], [beside])
        # Not where either file has the id twice.
        np.testing.assert_array_equal(data.proficiency, [[1, 0], [np.nan] * 2, [np.nan] * 2, [1, 0]])
        assert notes.unmatched == {"without_proficiency": ["2", "3"], "proficiency_without_item": ["up:2", "down:2"]}
        # Of several files the names are the subtests: another one's pair is not taken.
        one, two = write("one.json", {"0": {"scores": [1, 0]}}), write("two.json", {"0": {"scores": [1, 0]}})
        beside = write("q.jsonl", {**pair, "id": "0", "subtest": "two"})
        np.testing.assert_array_equal(read_pairs([one, two], [beside]).proficiency, [[np.nan] * 2, [1, 0]])

    def test_pairs_of_several_files_name_their_subtest(self, write):
        one, two = write("one.json", {"0": {"scores": [1, 0]}}), write("two.json", {"0": {"scores": [1, 0]}})
        pair = {"id": "0", "caption": 1, "foils": [0]}
        beside = write("p.jsonl", {**pair, "subtest": "two", "caption": 5}, {**pair, "subtest": "one"})
        data, notes = read_scores("pairs", [one, two], [beside])
        np.testing.assert_array_equal(data.proficiency, [[1, 0], [5, 0]])
        assert notes.unmatched == {"proficiency_without_item": []}

    def test_json_lines_named_json_are_still_lines(self, write):
        assert read_pairs([write("x.json", GOOD, {**GOOD, "id": "b"})]).ids == ["a", "b"]

    @pytest.mark.parametrize(
        ("record", "complaint"),
        [
            ({"id": "b", "caption": float("nan"), "foils": [1]}, r"x.jsonl:2: caption: is nan; give a finite number"),
            ({"id": "b", "caption": 1, "foils": [0, float("-inf")]}, r"x.jsonl:2: foils\[1\]: is -inf"),
            ({"id": "b", "caption": 10**400, "foils": [1]}, r"x.jsonl:2: caption: is inf"),
            ({"id": "b", "caption": "0.5", "foils": [1]}, r"x.jsonl:2: caption: is '0.5'"),
            ({"id": "b", "caption": True, "foils": [1]}, r"x.jsonl:2: caption: is True"),
            ({"id": "b", "caption": 1, "foils": []}, r"x.jsonl:2: foils: is missing or empty"),
            ({"id": "b", "caption": 1}, r"x.jsonl:2: foil: is missing"),
            ({"id": "b", "foils": [1]}, r"x.jsonl:2: caption: is missing"),
            ({"caption": 1, "foils": [1]}, r"x.jsonl:2: id: is missing"),
            ({"id": "a", "caption": 1, "foils": [1]}, r"x.jsonl:2: id: 'a' occurs twice in the file \(.*line 1\)"),
            ({**GOOD, "id": "b", "proficiency": 3}, r"x.jsonl:2: proficiency: is not an object"),
            ({**GOOD, "id": "b", "proficiency": {"caption": 1}}, r"x.jsonl:2: proficiency.foil: is missing"),
            ("[1, 2]", r"x.jsonl:2: record: is not a JSON object"),
            ('{"id": "b",', r"x.jsonl:2: JSON: "),
            ("[" * 100_000, r"x.jsonl:2: JSON: is nested too deeply"),
        ],
    )
    def test_a_bad_record_is_named_with_its_field(self, write, record, complaint):
        with pytest.raises(ActionableError, match=complaint):
            read_pairs([write("x.jsonl", GOOD, record)])

    @pytest.mark.parametrize(
        ("lines", "complaint"),
        [
            (['{"1": {"scores": [1, 0]},', '"2": {"scores": [NaN, 0]}}'], r"x.json:2: 2.scores\[0\]: is nan"),
            (['{"1": {"scores": [1]}}'], r"x.json:1: 1.scores: has no foil"),
            (['{"1": {"scores": [1, 0]},', '"1": {"scores": [0, 1]}}'], r"x.json:2: 1: occurs twice in the file"),
            (['{"1": [1, 0]}'], r"x.json:1: 1: is not a JSON object"),
            (['{"1": {"scores": [1, 0]}', '"2": {}}'], r"x.json:2: JSON: ',' is expected"),
            (["{}"], r"x.json: record: there is none"),
        ],
    )
    def test_a_bad_member_is_named_with_its_line(self, write, lines, complaint):
        with pytest.raises(ActionableError, match=complaint):
            read_pairs([write("x.json", *lines)])

    def test_wrong_encodings_and_missing_files_are_reported(self, tmp_path):
        latin = tmp_path / "x.jsonl"
        latin.write_bytes(b'{"id": "a", "caption": 1, "foils": [0]}\n{"id": "caf\xe9"}\n')
        with pytest.raises(ActionableError, match=r"x.jsonl:2: encoding: .*UTF-8"):
            read_pairs([latin])
        with pytest.raises(ActionableError, match=r"no.jsonl: file: .*check the path"):
            read_pairs([tmp_path / "no.jsonl"])

    def test_one_proficiency_file_for_all_or_one_for_each(self, write):
        path = write("x.jsonl", GOOD)
        with pytest.raises(ActionableError, match="3 proficiency files for 2 files"):
            read_pairs([path, path], [path] * 3)


class TestChoices:
    def test_lines_may_name_the_right_column_and_the_cluster(self, write):
        data = read_choices(write("x.jsonl", {"id": 1, "scores": [3, 2]}, {"id": 2, "scores": [1, 2, 0], "right": 1}))
        np.testing.assert_array_equal(data.scores, [[3, 2, np.nan], [1, 2, 0]])
        assert data.ids == ["1", "2"]
        assert list(data.right) == [0, 1]

    def test_an_array_has_one_record_per_row(self, tmp_path):
        np.save(tmp_path / "x.npy", np.arange(12.0, dtype=np.float32).reshape(2, 6))
        data = read_choices(tmp_path / "x.npy")
        assert data.scores.shape == (2, 6)
        assert data.ids == ["0", "1"]

    def test_csv_with_and_without_header(self, write):
        plain = read_choices(write("x.csv", "3,2,1", "", "1,2,3"))
        np.testing.assert_array_equal(plain.scores, [[3, 2, 1], [1, 2, 3]])
        named = read_choices(write("y.csv", "id,positive,n1", "v1,3,2", "v2,1,2"))
        assert named.ids == ["v1", "v2"]
        np.testing.assert_array_equal(named.scores, [[3, 2], [1, 2]])

    @pytest.mark.parametrize(
        ("name", "lines", "complaint"),
        [
            ("x.jsonl", ['{"id": 1, "scores": [1]}'], "x.jsonl:1: scores: has no foil"),
            ("x.jsonl", ['{"id": 1, "scores": [1, 2], "right": 2}'], "x.jsonl:1: right: is 2; give a column"),
            ("x.jsonl", ['{"id": 1, "scores": [1, Infinity]}'], r"x.jsonl:1: scores\[1\]: is inf"),
            ("x.jsonl", [""], "x.jsonl: record: there is none|x.jsonl:1: file: is empty"),
            ("x.csv", ["1,2", "1,nan"], r"x.csv:2: scores\[1\]: is nan"),
            ("x.csv", ["1,2", "1,two"], r"x.csv:2: scores\[1\]: is 'two'"),
            ("x.csv", ["positive,negative"], "x.csv: record: there is none"),
            ("x.npy", ["not an array"], "x.npy: file: is not a plain .npy array"),
        ],
    )
    def test_a_bad_record_is_named_with_its_field(self, write, name, lines, complaint):
        with pytest.raises(ActionableError, match=complaint):
            read_choices(write(name, *lines))

    @pytest.mark.parametrize(
        ("array", "complaint"),
        [
            (np.zeros(3), r"x.npy: shape: is \(3,\)"),
            (np.zeros((3, 1)), r"x.npy: shape: is \(3, 1\)"),
            (np.array([[1.0, 2.0], [1.0, np.nan]]), r"x.npy:2: scores\[1\]: is nan"),
            (np.array([["a", "b"]]), "x.npy: dtype: is not an array of numbers"),
        ],
    )
    def test_a_bad_array_is_named(self, tmp_path, array, complaint):
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(ActionableError, match=complaint):
            read_choices(tmp_path / "x.npy")

    def test_pickled_objects_are_never_loaded(self, tmp_path):
        np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
        with pytest.raises(ActionableError, match=r"x.npy: file: is not a plain .npy array"):
            read_matrix(tmp_path / "x.npy")


def test_a_matrix_stays_on_disk(tmp_path):
    np.save(tmp_path / "sim.npy", np.eye(3))
    assert isinstance(read_matrix(tmp_path / "sim.npy"), np.memmap)


def test_only_pairs_take_several_files_and_proficiency(tmp_path):
    with pytest.raises(ActionableError, match="exactly one --file"):
        read_scores("choices", [tmp_path / "a", tmp_path / "b"])
    with pytest.raises(ActionableError, match="--proficiency applies only to pairwise"):
        read_scores("matrix", [tmp_path / "a"], [tmp_path / "b"])
