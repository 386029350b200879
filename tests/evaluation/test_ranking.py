"""A leaderboard column by hand."""

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.metrics import pairwise
from evaluation.metrics.comparison import items_to_separate, pairwise_tests
from evaluation.metrics.ranking import ModelScores, column_credit, default_column, ranking
from tests.evaluation.builders import pair_scores

N = 60
CLUSTERS = [f"v{k // 2}" for k in range(N)]


def model(key: str, right, able=None) -> ModelScores:
    """A model that has `right` of the main items and `able` of the proficiency items right, one foil each."""
    main = np.asarray(right, dtype=float)
    simple = None if able is None else [[1.0, 0.0] if one else [0.0, 1.0] for one in able]
    data = pair_scores([[1.0, 0.0] if one else [0.0, 1.0] for one in right], simple, clusters=CLUSTERS[: len(right)])
    group = pairwise.compute(data, draws=50)["overall"]
    proficiency = np.full(len(main), np.nan) if able is None else np.asarray(able, dtype=float)
    return ModelScores(key, main, proficiency, group)


def first(n: int):
    return [k < n for k in range(N)]


def test_best_first_ties_share_a_group_and_the_next_group_counts_on():
    models = [model("weak", first(12)), model("good", first(51)), model("best", first(52)), model("none", first(0))]
    found = ranking(models, CLUSTERS, "T")
    assert [row["key"] for row in found["rows"]] == ["best", "good", "weak", "none"]
    assert [row["group"] for row in found["rows"]] == [1, 1, 2, 3]
    assert [row["place"] for row in found["rows"]] == [1, 1, 3, 4]
    assert (found["n_tests"], type(found["n_tests"])) == (6, int)
    ordered = [models[2], models[1], models[0], models[3]]
    p = pairwise_tests(np.stack([each.main for each in ordered]), CLUSTERS)
    assert [row["p_best"] for row in found["rows"]] == [None, *p[0, 1:].tolist()]
    assert found["items_to_separate"] == items_to_separate(models[2].main, models[1].main, CLUSTERS)


def test_items_that_would_separate_two_models_cluster_as_these_do():
    # They differ on both items of two videos.
    a, b = model("a", first(52)), model("b", first(48))
    found = ranking([a, b], CLUSTERS, "T")["items_to_separate"]
    assert found == items_to_separate(a.main, b.main, CLUSTERS) > items_to_separate(a.main, b.main, None)


def test_both_right_is_the_product_and_covers_items_with_a_pair():
    one = model("a", first(40), first(30))
    assert column_credit(one, "P+T").sum() == 30
    assert default_column([None, one.group]) == "P+T"
    assert default_column([model("b", first(3)).group]) == "T"
    found = ranking([one], CLUSTERS, "P+T")
    assert found["rows"][0]["value"] == 0.5
    assert found["items_to_separate"] is None


def test_a_scope_takes_its_items_only():
    a, b = model("a", first(30)), model("b", [not one for one in first(30)])
    scope = np.array(first(30))
    found = ranking([a, b], CLUSTERS, "T", scope)
    n_videos = len({cluster for cluster, kept in zip(CLUSTERS, scope, strict=True) if kept})
    assert found["rows"][1]["p_best"] == 2.0 ** (1 - n_videos)  # 30 of 30 against 0 of 30: no spread at all
    assert ranking([a, b], CLUSTERS, "T")["rows"][1]["p_best"] == 1.0  # half each over all items


def test_unscored_models_are_last_without_a_rank():
    waiting = ModelScores("waiting", np.full(N, np.nan), np.full(N, np.nan), None)
    found = ranking([waiting, model("a", first(30))], CLUSTERS, "T")
    assert [(row["key"], row["place"]) for row in found["rows"]] == [("a", 1), ("waiting", None)]
    assert ranking([waiting], CLUSTERS, "T")["rows"][0]["value"] is None
    assert ranking([], CLUSTERS, "T")["rows"] == []


def test_an_unknown_column_is_named():
    with pytest.raises(EvaluationError, match="unknown column 'X'; choose one of: P\\+T, T, P"):
        ranking([], [], "X")
