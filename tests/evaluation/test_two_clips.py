"""Text, video and group score of items of two clips: chance, ties, kinds of scores, and published files."""

import json

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.metrics.two_clips import ABSOLUTE, SHARES, WINNERS, TwoClipScores, compute, credits_of
from evaluation.score_files.scores import read_scores
from foilworks.core.corpus.rules.two_clips import connected

# s(0, 0), s(1, 0), s(0, 1), s(1, 1): all right; text alone; video alone; none.
ROWS = [[4.0, 1.0, 2.0, 3.0], [2.0, 1.0, 8.0, 9.0], [2.0, 8.0, 1.0, 9.0], [1.0, 4.0, 3.0, 2.0]]


def data_of(rows, kind=ABSOLUTE, subtests=None):
    ids = [str(k) for k in range(len(rows))]
    return TwoClipScores(ids, np.array(rows, dtype=float), subtests or ["s"] * len(rows), ids, kind)


def test_each_score_counts_its_own_comparisons():
    assert credits_of(data_of(ROWS), "strict").tolist() == [[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]]
    found = compute(data_of(ROWS, subtests=["a", "a", "b", "b"]), draws=50)
    assert [found["overall"][name] for name in ("text", "video", "group", "n")] == [0.5, 0.5, 0.25, 4]
    assert found["subtests"]["a"]["text"] == 1.0
    assert found["subtests"]["b"]["video"] == 0.5


@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_random_and_equal_scores_get_the_stated_chance(scale):
    n = 40_000
    rows = np.random.default_rng(7).normal(size=(n, 4)) * scale
    found = compute(data_of(rows), draws=2)["overall"]
    for name, chance in (("text", 1 / 4), ("video", 1 / 4), ("group", 1 / 6)):
        assert found["chance"][name] == chance
        # Five standard errors, of a fixed seed.
        assert abs(found[name] - chance) < 5 * np.sqrt(chance * (1 - chance) / n)


def test_random_shares_get_their_own_chance_and_the_text_score_implies_the_video_score():
    n = 40_000
    first, second = np.random.default_rng(3).random((2, n))
    rows = np.column_stack([first, 1 - first, second, 1 - second])
    found = compute(data_of(rows, SHARES), draws=2)["overall"]
    for name, chance in (("text", 1 / 4), ("video", 1 / 2), ("group", 1 / 4)):
        assert found["chance"][name] == chance
        assert abs(found[name] - chance) < 5 * np.sqrt(chance * (1 - chance) / n)
    assert found["group"] == found["text"]
    # Their logarithms say the same.
    assert compute(data_of(np.log(rows), SHARES), draws=2)["overall"]["video"] == found["video"]


def test_half_is_the_expectation_over_random_tie_breaking():
    rows = [[1, 1, 1, 1], [1, 1, 0, 2], [2, 1, 1, 1], [1, 0, 0, 1]]
    tiny = np.random.default_rng(1).normal(size=(20_000, 1, 4)) * 1e-6
    broken = np.array(rows) + tiny
    expected = np.mean([credits_of(data_of(draw), "strict") for draw in broken[:3000]], axis=0)
    assert np.allclose(credits_of(data_of(rows), "half"), expected, atol=0.05)
    assert credits_of(data_of(rows), "strict")[0].tolist() == [0, 0, 0]
    assert credits_of(data_of(rows), "first")[0].tolist() == [1, 1, 1]


def test_winners_have_a_text_score_alone():
    found = compute(data_of([[1, 0, 0, 1], [1, 0, 1, 0]], WINNERS), draws=20)["overall"]
    assert (found["text"], found["video"], found["group"], found["group_ci"]) == (0.5, None, None, None)


def test_nothing_and_an_unknown_policy_are_refused():
    with pytest.raises(EvaluationError, match="at least one record"):
        compute(data_of(np.empty((0, 4))))
    with pytest.raises(EvaluationError, match="unknown tie policy"):
        compute(data_of(ROWS), ties="lucky")


def test_pairs_that_share_a_source_are_one_cluster():
    found = connected([("a", "b"), ("c", "d"), ("b", "e"), ("f", "f")])
    assert found[0] == found[2]
    assert len(set(found)) == 3


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_both_published_forms_of_score_files_are_read(tmp_path):
    cells = ("c0_i0", "c1_i0", "c0_i1", "c1_i1")
    wide = [{"id": k, **dict(zip(cells, row, strict=True))} for k, row in enumerate(ROWS)]
    labelled = [{"label": f"{k}_{cell}", "score": row[cell]} for k, row in enumerate(wide) for cell in sorted(cells)]
    for number, records in enumerate((wide, labelled)):
        data, notes = read_scores("two_clips", [written(tmp_path / f"{number}.jsonl", records)])
        assert data.scores.tolist() == ROWS
        assert data.ids == ["0", "1", "2", "3"]
        assert not notes.ignored


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([{"label": "0_c0_i0", "score": 1}], "there is no 0_c1_i0"),
        ([{"label": "zero", "score": 1}], "such as 0_c0_i1"),
        ([{"label": "0_c0_i0", "score": 1}] * 2, "occurs twice"),
        ([{"id": "1", "c0_i0": 1, "c1_i0": 1, "c0_i1": 1, "c1_i1": None}], "c1_i1: is missing"),
        ([{"id": "1", "caption": 1}], "no scores of two clips"),
    ],
)
def test_a_bad_score_file_names_the_record(tmp_path, records, problem):
    with pytest.raises(EvaluationError, match=problem):
        read_scores("two_clips", [written(tmp_path / "a.jsonl", records)])
