"""The scripts of docs/examples/replaced_scripts.py give the numbers of their definitions, computed here by hand."""

import runpy

import numpy as np
import pytest

from scripts.doc_pages import DOCS

REPLACED = runpy.run_path(str(DOCS / "examples" / "replaced_scripts.py"))


@pytest.mark.parametrize("seed", [0, 1])
def test_text_video_and_group_score_of_vinoground(seed):
    """An item has two questions about texts and two about videos; a score counts items with both right, the group those
    with all four. A response is right if it starts with the answer. An item counts in each of its categories."""
    rng = np.random.default_rng(seed)
    n = 30
    questions = {kind: [(f"{'ab'[rng.random() < 0.7]} is it", "B") for _ in range(2 * n)] for kind in ("text", "video")}
    categories = [[name for name in ("action", "viewpoint") if rng.random() < 0.5] for _ in range(n)]
    right = {kind: np.array([text[0] == "b" for text, _answer in pairs]) for kind, pairs in questions.items()}
    both = {kind: flags.reshape(n, 2).all(axis=1) for kind, flags in right.items()}
    both["group"] = both["text"] & both["video"]
    result = REPLACED["vinoground"](questions, categories)
    for name in ("all", "action", "viewpoint"):
        is_of = np.array([name == "all" or name in item for item in categories])
        assert result[name] == {kind: pytest.approx(flags[is_of].mean(), abs=1e-12) for kind, flags in both.items()}
    assert 0 < result["all"]["group"] < result["all"]["text"] < 1


# The table of Fleiss (1971) in the test of that repository: texts in rows, how many of 14 chose each answer.
COUNTS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)


def test_fleiss_kappa_of_labels():
    """Agreement per text is the share of equal pairs of its answers; chance, the sum of squared shares of answers."""
    rows = [
        {"id": f"text {text}", "stance": f"answer {answer}"}
        for text, counts in enumerate(COUNTS)
        for answer, count in enumerate(counts)
        for _ in range(count)
    ]
    n = COUNTS.sum(axis=1)[0]
    agreement = (COUNTS * (COUNTS - 1)).sum() / (len(COUNTS) * n * (n - 1))
    chance = ((COUNTS.sum(axis=0) / COUNTS.sum()) ** 2).sum()
    kappa = REPLACED["fleiss_kappa"](rows, "stance")
    assert kappa == pytest.approx((agreement - chance) / (1 - chance), abs=1e-12)
    assert kappa == pytest.approx(0.210, abs=5e-4)


def test_accuracy_per_aspect_of_tempcompass():
    rng = np.random.default_rng(3)
    logs = [
        {"doc": {"dim": aspect}, "avg_accuracy": {"rating": int(rng.random() < share)}}
        for aspect, share in (("action", 0.9), ("speed", 0.4), ("order", 0.5))
        for _ in range(25)
    ]
    ratings = {"avg": [log["avg_accuracy"]["rating"] for log in logs]}
    for log in logs:
        ratings.setdefault(log["doc"]["dim"], []).append(log["avg_accuracy"]["rating"])
    expected = {name: pytest.approx(np.mean(values), abs=1e-12) for name, values in ratings.items()}
    assert REPLACED["tempcompass"](logs) == expected
