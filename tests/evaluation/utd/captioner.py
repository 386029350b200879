"""A captioner of single frames, trained in a second: each word that changes is learnt from pixels by its sentences."""

import re
from collections.abc import Sequence

import numpy as np
from PIL import Image
from sklearn.linear_model import LogisticRegression

from foilworks.core.hub.interfaces import GenerationRequest, ModelInfo, ScoreKind
from foilworks.site.demo.shape_videos import Scene
from tests.evaluation.utd.worlds import SIDE, stills

GRID = 14
SENTENCE = re.compile(r"There is a (\w+) (\w+) in the photo\. The \w+ is moving (.*)\.")
# Which columns of the pixels' features a word is learnt from: the colour, the cut-out, where it stands.
COLOUR, CUT, ACROSS, DOWN = slice(0, 3), slice(3, 3 + GRID * GRID), slice(-2, -1), slice(-1, None)


class Captioner:
    """The Generator: what it says of colour, shape and place is what its training sentences said of such pixels."""

    info = ModelInfo("trained", "1", ScoreKind.LOG_LIKELIHOOD, frames=1, size=(SIDE, SIDE))

    def __init__(self, frames: np.ndarray, said: Sequence[str]) -> None:
        found = [match.groups() for text in said if (match := SENTENCE.fullmatch(text))]
        columns = np.stack([_pixels(frame) for frame in frames])
        colours, shapes, places = zip(*found, strict=True)
        sides = [_word(place, ("left", "right")) for place in places]
        heights = [_word(place, ("top", "bottom")) for place in places]
        self._models = [
            (part, LogisticRegression(C=100, max_iter=300).fit(columns[:, part], words))
            for part, words in ((COLOUR, colours), (CUT, shapes), (ACROSS, sides), (DOWN, heights))
        ]

    def generate(self, requests: Sequence[GenerationRequest]) -> list[str]:
        columns = np.stack([_pixels(request.clip[0]) for request in requests])
        words = [model.predict(columns[:, part]) for part, model in self._models]
        return [_sentence(*row) for row in zip(*words, strict=True)]


def train(shown: Sequence[Scene]) -> Captioner:
    return Captioner(*stills(shown))


def _pixels(frame: np.ndarray) -> np.ndarray:
    picture = frame.astype(np.float32)
    contrast = np.abs(picture - np.median(picture, axis=(0, 1))).max(axis=2)
    seen = contrast > 0.5 * contrast.max()
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    cut = Image.fromarray(seen[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]).resize((GRID, GRID))
    weights = np.where(contrast > 25, contrast, 0)
    y, x = ((weights.sum(axis=1 - axis) * np.arange(len(frame))).sum() / weights.sum() for axis in (0, 1))
    middle = (len(frame) - 1) / 2
    colour = picture[contrast > 0.8 * contrast.max()].mean(axis=0) / 255
    return np.concatenate([colour, np.asarray(cut, np.float32).ravel(), [x - middle, y - middle]])


def _word(place: str, words: Sequence[str]) -> str:
    return next((word for word in words if word in place), "")


def _sentence(colour: str, shape: str, side: str, height: str) -> str:
    place = " and ".join(f"at the {word}" for word in (side, height) if word) or "in the center"
    return f"There is a {colour} {shape} in the photo. The {shape} is moving {place}."
