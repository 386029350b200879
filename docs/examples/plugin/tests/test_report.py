import pytest
from foilworks_example.report import compute

from foilworks.plugins import EvaluationError, ItemFacts


def test_words_are_counted_per_subtest():
    items = [ItemFacts("1", "doors", "A man opens a door.", ("A man closes it.",), valid=True)]
    assert compute(items, state="valid")["subtests"] == [
        {"subtest": "doors", "items": 1, "caption_words": 5, "foil_words": 4}
    ]
    with pytest.raises(EvaluationError):
        compute([], state="all")
