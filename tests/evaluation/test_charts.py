"""Charts are well-formed SVG, the same bytes for the same data, whatever the names hold."""

from xml.etree import ElementTree

import pytest

from evaluation import charts

GROUP = {
    "T": 0.9, "P": None, "P+T": None, "n": 10, "T_ci": [0.8, 1.0], "P_ci": None, "P+T_ci": None,
    "chance": {"T": 0.5, "P": None, "P+T": None},
}  # fmt: skip
FULL = {**GROUP, "P": 0.8, "P+T": 0.7, "chance": {"T": 0.5, "P": 0.5, "P+T": 0.25}}
HOSTILE = "<script>$\\frac{1}$ \u202e&\"' ]]> 動画"
SHIFT = {"word": HOSTILE, "caption_share": 0.2, "foil_share": 0.0, "shift": -0.2}

CASES = {
    "funnel": lambda name: charts.funnel([(name, 10), ("valid", 4), ("none", 0)], name),
    "votes": lambda name: charts.votes_by_choice([(name, {"caption": 3, "foil": 1}), ("empty", {})], name),
    "words": lambda name: charts.word_shifts([{**SHIFT, "word": name}], name),
    "scores": lambda name: charts.scores([(name, FULL), ("without P", GROUP)], name),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["plain", HOSTILE])
def test_a_chart_is_well_formed_and_repeats_to_the_byte(case, name):
    drawn = CASES[case](name)
    root = ElementTree.fromstring(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    assert drawn == CASES[case](name)


def test_numbers_and_names_stay_text():
    drawn = CASES["funnel"]("items").decode()
    for text in ("items", "10", "4 (40%)", "0 (0%)"):
        assert f">{text}<" in drawn


@pytest.mark.parametrize("drawer", [charts.funnel, charts.votes_by_choice, charts.word_shifts, charts.scores])
def test_nothing_to_draw_is_an_empty_chart(drawer):
    assert ElementTree.fromstring(drawer([])) is not None
