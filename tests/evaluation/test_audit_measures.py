"""Names of the field in an audit: each measure is its published formula."""

import pytest

from evaluation.audit.measures import measures_of


def test_measures_follow_their_formulas():
    rungs = {"no_clip": 0.4, "middle_frame": 0.5, "shuffled": 0.6, "full": 0.75}
    rows = {rung: {"T": T, "drop": 0.75 - T, "drop_ci": [0.0, 0.5]} for rung, T in rungs.items()}
    delta = {"value": 0.2, "interval": [0.1, 0.3]}
    document = {
        "item_scores": [{"s": 0.2}, {"s": 0.6}],
        "findings": [{"check": "learns", "details": {"delta_tst": delta}}],
        "ladder": {"rungs": rows, "parts": [{"high": "no_clip", "value": 0.15, "ci": [0.1, 0.2]}]},
    }
    measures = measures_of(document)
    assert {name: pytest.approx(row["value"]) for name, row in measures.items()} == {
        "bias_score": 0.4,
        "delta_tst": 0.2,
        "blind_gap": 0.15,
        "visual_gain": 0.35,
        "multi_frame_gain": 0.5,
        "order_sensitivity": 0.25,
    }
    assert measures["delta_tst"]["interval"] == [0.1, 0.3]


def test_without_inputs_there_is_no_measure():
    assert measures_of({"item_scores": [], "findings": []}) == {}
