"""The model of colours: what it sees, what it cannot."""

import numpy as np
import pytest

from foilworks.core.hub.adapters.colours import COLOURS, shares
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.opening import open_adapter
from generation.records import CaptionInput
from tests.generation.making import outcomes

PAINT = {
    "red": (220, 20, 30),
    "orange": (240, 140, 20),
    "yellow": (240, 230, 30),
    "green": (20, 160, 40),
    "blue": (30, 60, 220),
    "purple": (130, 30, 200),
    "pink": (240, 60, 170),
    "brown": (110, 65, 20),
    "black": (5, 5, 8),
    "white": (250, 250, 250),
    "grey": (128, 128, 128),
}


def painted(*colours: str) -> np.ndarray:
    """Two frames of equal stripes."""
    stripes = [np.full((8, 4, 3), PAINT[colour], np.uint8) for colour in colours]
    return np.stack([np.concatenate(stripes, axis=1)] * 2)


@pytest.mark.parametrize("colour", COLOURS)
def test_each_colour_is_recognised_by_its_name(colour: str) -> None:
    assert COLOURS[int(shares(painted(colour)).argmax())] == colour


def test_shares_are_those_of_the_pixels() -> None:
    found = shares(painted("red", "red", "blue", "white"))
    assert {name: float(found[at]) for at, name in enumerate(COLOURS) if found[at]} == {
        "red": 0.5,
        "blue": 0.25,
        "white": 0.25,
    }


def test_colours_are_distinguished_and_their_places_are_not() -> None:
    model = open_adapter("colours:?frames=2")
    caption = "a red ball hits a blue box"
    (outcome,) = outcomes("colour_swap", [CaptionInput("one", caption)])
    texts = [caption, "a green ball hits a blue box", outcome.foils[0].draft.foil, "a ball"]
    videos = model.encode_video([painted("red", "blue")], [VideoMeta()])
    true, other, swapped, none = model.score(videos, model.encode_text(texts))[0]
    assert true == pytest.approx(1)
    assert other == pytest.approx(0.5)
    assert swapped == true
    assert none == 0


def test_the_baseline_refuses_a_name_of_weights() -> None:
    with pytest.raises(HubError, match=r"write colours: or colours:\?frames=16"):
        open_adapter("colours:folder")
