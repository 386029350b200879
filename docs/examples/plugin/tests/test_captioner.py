from foilworks_example.captioner import make

from foilworks.plugins import CaptionInput, Skip


def test_a_label_becomes_a_caption():
    sources = [CaptionInput("1", "", "chess", facts={"class_label": "playing chess"}), CaptionInput("2", "")]
    made, skipped = make(sources, params={"subject": "A man"}, mode="corrected", seed=0)
    assert made.text == "A man is playing chess."
    assert isinstance(skipped, Skip)
