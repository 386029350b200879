from foilworks_example.metric import compute

from foilworks.plugins import pair_scores


def test_the_margin_is_capped():
    data = pair_scores([[0.9, 0.4], [0.2, 0.1, 0.3], [9.0, 0.0]])
    assert compute(data, cap=1.0)["mean_margin"] == (0.5 - 0.1 + 1.0) / 3
