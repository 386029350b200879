"""Score by colours alone: no shapes, places or order. A benchmark that this model solves is solved by colours.

A clip is the share of its pixels in each of eleven colours, a text is the colours that it names, and the score is their
cosine; a text that names none scores 0 with every clip. It has no weights and is deterministic. `colours:` or
`colours:?frames=16`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.catalogue.options import split_options
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, VideoMeta
from foilworks.core.text.tokens import words

VERSION = "1"
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "grey")
SAME = {
    "gray": "grey",
    "violet": "purple",
    "magenta": "pink",
    "golden": "yellow",
    "turquoise": "blue",
    "beige": "brown",
}
# Where each hue ends, in degrees, from red round to red.
HUES = ((15, "red"), (45, "orange"), (70, "yellow"), (165, "green"), (260, "blue"), (300, "purple"), (345, "pink"))
DARK, PALE, BRIGHT, DULL = 0.2, 0.2, 0.8, 0.6


class ColourShares(ReadsWholeTexts):
    def __init__(self, frames: int) -> None:
        self.info = ModelInfo(
            model_id="colours",
            revision=f"{VERSION} frames={frames}",
            kind=ScoreKind.COSINE,
            frames=frames,
            size=(64, 64),
            card={"category": "image-text"},
        )

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        return _rows([shares(clip) for clip in clips])

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return _rows([_count_colours(text) for text in texts])

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        # One product a pair: a matrix product may round otherwise in other batches, and equal texts must tie.
        return (videos[:, None, :] * texts[None, :, :]).sum(axis=2, dtype=np.float32)


def shares(frames: Frames) -> NDArray[np.float32]:
    """Return the share of pixels in each of COLOURS, summing to 1, of uint8 (k, height, width, 3), RGB."""
    pixels = frames.reshape(-1, 3).astype(np.float32) / 255
    highest, lowest = pixels.max(axis=1), pixels.min(axis=1)
    saturation = np.where(highest > 0, (highest - lowest) / np.maximum(highest, 1e-6), 0)
    hue = _hue(pixels, highest, lowest)
    colour_indices = np.select(
        [hue < end for end, _ in HUES], [COLOURS.index(name) for _, name in HUES], COLOURS.index("red")
    )
    colour_indices = np.where(
        (colour_indices == COLOURS.index("orange")) & (highest < DULL), COLOURS.index("brown"), colour_indices
    )
    colourless = np.where(highest > BRIGHT, COLOURS.index("white"), COLOURS.index("grey"))
    colour_indices = np.where(saturation < PALE, colourless, colour_indices)
    colour_indices = np.where(highest < DARK, COLOURS.index("black"), colour_indices)
    return (np.bincount(colour_indices, minlength=len(COLOURS)) / len(pixels)).astype(np.float32)


def _hue(pixels: NDArray[np.float32], highest: NDArray[np.float32], lowest: NDArray[np.float32]) -> NDArray[np.float32]:
    """Degrees, 0 to 360; 0 where a pixel has none."""
    red, green, blue = pixels.T
    spread = np.maximum(highest - lowest, 1e-6)
    sixth = np.select(
        [highest == red, highest == green],
        [((green - blue) / spread) % 6, (blue - red) / spread + 2],
        (red - green) / spread + 4,
    )
    return np.where(highest > lowest, sixth * 60, 0).astype(np.float32)


def _count_colours(text: str) -> NDArray[np.float32]:
    """How often a text names each of COLOURS."""
    colour_words = [SAME.get(word, word) for word in words(text)]
    return np.array([colour_words.count(colour) for colour in COLOURS], np.float32)


def _rows(histograms: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Rows of length one, or of zeros where nothing was found."""
    rows = np.array(histograms, np.float32).reshape(len(histograms), len(COLOURS))
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> ColourShares:
    """Load the baseline. HubError: the name has more than options; the baseline has no weights."""
    name, options = split_options(argument, {"frames": int})
    if name:
        raise HubError(f"colours:{argument}: it has no weights; write colours: or colours:?frames=16")
    return ColourShares(options.get("frames", 8))
