from foilworks_example.filter import judge

from foilworks.plugins import CaptionInput


def test_long_foils_are_dropped():
    caption = CaptionInput("1", "A dog runs.")
    assert judge(caption, "A cat runs.", others=[], params={"max": 3}).passed
    assert not judge(caption, "A cat runs away.", others=[], params={"max": 3}).passed
