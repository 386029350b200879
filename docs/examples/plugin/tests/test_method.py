from foilworks_example.method import make

from foilworks.plugins import CaptionInput


def test_sides_change_places():
    (draft,) = make([CaptionInput("1", "A dog runs to the left.")], params={"max": 10}, mode="corrected", seed=0)
    assert draft.foil == "A dog runs to the right."
