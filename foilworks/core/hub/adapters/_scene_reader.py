"""Describe the demo's videos by arithmetic: one coloured shape on a dark ground that does one thing. No weights, no
torch.

It replaces a generative model in the demo and in tests. Its descriptions are true if the shape is clear and its
movement is not too small.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

COLOURS = {
    "red": (222, 56, 48),
    "green": (52, 186, 84),
    "blue": (66, 110, 236),
    "yellow": (240, 208, 48),
    "white": (242, 242, 242),
    "purple": (172, 84, 214),
}
SHAPES = ("circle", "square", "triangle", "star", "cross", "ring")
# Grey levels over the ground that belong to the shape, well above the grain.
CLEAR = 25.0
# Shares of the picture's side, ratios and radians under which nothing is said to move, grow, fade or turn.
STILL, GROWN, FADED, TURNED, ROUND = 0.02, 1.08, 1.2, 0.35, 0.015
# Of the way from end to end: a straight path past the middle turns round it as well.
BENT = 0.06
# Shares of the side within which a thing stands in the middle.
CENTRED = 0.006
GRID = 40
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True)
class Seen:
    """What a scene shows: `shape`, `colour`, and the movement ("moves from left to right"; empty if there is too little
    to say)."""

    shape: str
    colour: str
    motion: str

    @property
    def sentence(self) -> str:
        return f"a {self.colour} {self.shape} {self.motion}".strip()


@dataclass(frozen=True)
class Still:
    """What one frame shows, without movement: `position` says where it moves ("at the left and at the top")."""

    shape: str
    colour: str
    position: str

    @property
    def description(self) -> str:
        """Return objects, composition and activity, in the words of frame describers."""
        return f"There is a {self.colour} {self.shape} in the photo. The {self.shape} is moving {self.position}."


def read_still(frame: NDArray[np.uint8]) -> Still | None:
    """Describe one frame (height, width, 3); None if it shows no shape."""
    picture = frame.astype(np.float32)
    contrast = np.abs(picture - np.median(picture, axis=(0, 1), keepdims=True)).max(axis=2)
    if (contrast > CLEAR).mean() <= 1e-3:
        return None
    weights = np.where(contrast > CLEAR, contrast, 0)
    height, width = contrast.shape
    x = float((weights.sum(axis=0) * ((np.arange(width) + 0.5) / width)).sum() / weights.sum()) - 0.5
    y = float((weights.sum(axis=1) * ((np.arange(height) + 0.5) / height)).sum() / weights.sum()) - 0.5
    sides = [
        name
        for name, is_there in (
            ("at the left", x < -CENTRED),
            ("at the right", x > CENTRED),
            ("at the top", y < -CENTRED),
            ("at the bottom", y > CENTRED),
        )
        if is_there
    ]
    return Still(_shape(contrast), _colour(picture, contrast), " and ".join(sides) or "in the center")


def read_scene(frames: NDArray[np.uint8]) -> Seen | None:
    """Describe a clip (k, height, width, 3); None if it shows no shape."""
    picture = frames.astype(np.float32)
    ground = np.median(picture, axis=(1, 2), keepdims=True)
    contrast = np.abs(picture - ground).max(axis=3)
    areas = (contrast > CLEAR).mean(axis=(1, 2))
    is_visible = areas > 1e-3
    if not is_visible.any():
        return None
    best = int(np.argmax(contrast.max(axis=(1, 2)) * np.sqrt(areas)))
    colour = _colour(picture[best], contrast[best])
    return Seen(_shape(contrast[best]), colour, _motion(contrast, is_visible))


def _colour(picture: NDArray[np.float32], contrast: NDArray[np.float32]) -> str:
    inside = picture[contrast > 0.8 * contrast.max()].mean(axis=0)
    return min(COLOURS, key=lambda name: float(np.abs(np.array(COLOURS[name]) - inside).sum()))


def _shape(contrast: NDArray[np.float32]) -> str:
    """By the drawing of each shape, laid over what is seen."""
    shape_mask = contrast > 0.5 * contrast.max()
    boxed_shape = _crop_to_shape(shape_mask)
    return max(SHAPES, key=lambda name: float((boxed_shape == _draw_shape(name)).mean()))


@lru_cache(maxsize=len(SHAPES))
def _draw_shape(shape: str) -> NDArray[np.bool_]:
    """The shape in the box that it fills: bool (GRID, GRID)."""
    side = np.linspace(-1.1, 1.1, 12 * GRID)
    x, y = side[None, :], side[:, None]
    long, short = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    angle = np.abs((np.arctan2(x, -y) + np.pi / 5) % (2 * np.pi / 5) - np.pi / 5)
    inside = {
        "circle": np.hypot(x, y) < 1,
        "square": long < 1,
        "triangle": np.maximum(np.abs(x) * 0.9 - 0.45 * y - 0.42, y - 0.8) < 0,
        "star": np.hypot(x, y) * (0.46 * np.cos(angle) + 0.84 * np.sin(angle)) < 0.46,
        "cross": np.maximum(long - 0.98, short - 0.27) < 0,
        "ring": np.abs(np.hypot(x, y) - 0.74) < 0.24,
    }[shape]
    return _crop_to_shape(inside)


def _crop_to_shape(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(GRID, GRID) of the smallest box round what is there."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    down = np.linspace(rows[0], rows[-1], GRID).round().astype(int)
    across = np.linspace(columns[0], columns[-1], GRID).round().astype(int)
    return mask[np.ix_(down, across)]


def _motion(contrast: NDArray[np.float32], is_visible: NDArray[np.bool_]) -> str:
    runs = int(is_visible[0]) + int((is_visible[1:] & ~is_visible[:-1]).sum())
    if runs > 1:
        return f"blinks exactly {NUMBERS.get(runs, runs)} times"
    k = len(contrast)
    weights = np.where(contrast > CLEAR, contrast, 0) * is_visible[:, None, None]
    height, width = contrast.shape[1:]
    total = np.maximum(weights.sum(axis=(1, 2)), 1e-6)
    x = (weights.sum(axis=1) * ((np.arange(width) + 0.5) / width)).sum(axis=1) / total
    y = (weights.sum(axis=2) * ((np.arange(height) + 0.5) / height)).sum(axis=1) / total
    strength = contrast.reshape(k, -1).max(axis=1)
    visible_frames = np.flatnonzero(is_visible)
    first, last = int(visible_frames[0]), int(visible_frames[-1])
    fading = strength[-1] / max(float(strength[0]), 1.0)
    if fading > FADED or fading < 1 / FADED:
        return "fades into view" if fading > 1 else "fades out of view"
    sizes = np.sqrt([float((contrast[at] > 0.5 * strength[at]).mean()) for at in (first, last)])
    grown = float(sizes[1] / sizes[0])
    if grown > GROWN or grown < 1 / GROWN:
        return "changes from small to large" if grown > 1 else "changes from large to small"
    return _path(x[first : last + 1], y[first : last + 1])


def _path(x: NDArray[np.float32], y: NDArray[np.float32]) -> str:
    """Where the middle of the shape goes; y grows downwards, so growing angles are clockwise."""
    radius = np.hypot(x - 0.5, y - 0.5)
    turn = float(np.diff(np.unwrap(np.arctan2(y - 0.5, x - 0.5))).sum())
    if radius.min() > 0.2 and radius.std() < ROUND and abs(turn) > TURNED and _bend(x, y) > BENT:
        return f"goes around the middle {'clockwise' if turn > 0 else 'anticlockwise'}"
    inwards = float(radius[0] - radius[-1])
    right, down = float(x[-1] - x[0]), float(y[-1] - y[0])
    if abs(inwards) > STILL and abs(inwards) > 0.8 * np.hypot(right, down):
        return f"drifts {'toward' if inwards > 0 else 'away from'} the middle"
    if max(abs(right), abs(down)) < STILL:
        return ""
    if abs(right) >= abs(down):
        return f"moves from {'left to right' if right > 0 else 'right to left'}"
    return f"moves from {'top to bottom' if down > 0 else 'bottom to top'}"


def _bend(x: NDArray[np.float32], y: NDArray[np.float32]) -> float:
    """How far the path leaves the line between its ends, as a share of that line."""
    across, down = float(x[-1] - x[0]), float(y[-1] - y[0])
    line = max(float(np.hypot(across, down)), 1e-6)
    return float(np.abs((x - x[0]) * down - (y - y[0]) * across).max() / line**2)
