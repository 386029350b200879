from foilworks_example.model import load_adapter


def test_a_short_text_scores_higher():
    short, long = load_adapter("").score(None, ["A dog runs.", "A dog runs to the left."])
    assert short.value > long.value
