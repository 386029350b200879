"""Draw the demo's videos: one coloured shape that does one thing for two seconds. Only numpy and a seed.

Every evaluation scene is a clip and its exact reversal (the same frames, last first), each with its own true caption: a
model that averages frames cannot distinguish the two and is at chance over both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from foilworks.site.demo.captions import BLINKING, COLOURS, COUNTS, MOTIONS, SHAPES, Facts

FRAMES = 24
FPS = 12
# Pixels per side; only models see the clips of the train split, at 32.
SIDE, TRAINED_SIDE = 256, 128
# Indices of the first evaluation and counting scenes: no two scenes of a world are drawn alike. Multiples of six, so
# that shapes stay balanced.
EVALUATION, COUNTING = 1_000_002, 2_000_004
# Amount of motion, as shares of the full motion. Every seventh evaluation pair moves so little that a model of 32 x 32
# pixels may miss the direction, so that no model gets everything right.
TRAINED, PLAIN, SUBTLE = (0.15, 1.0), (0.3, 1.0), (0.03, 0.1)
NOISE = 2.5  # grey levels

RGB = {
    "red": (222, 56, 48),
    "green": (52, 186, 84),
    "blue": (66, 110, 236),
    "yellow": (240, 208, 48),
    "white": (242, 242, 242),
    "purple": (172, 84, 214),
}


@dataclass(frozen=True)
class Scene:
    """What happens in one clip.

    Lengths are shares of the picture's side; `start` and `end` are (x, y) centres.
    """

    key: str
    facts: Facts
    start: tuple[float, float]
    end: tuple[float, float]
    radii: tuple[float, float]
    opacity: tuple[float, float]
    turn: tuple[float, float]  # circling: first angle and swept angle, radians; (0, 0) = no circling
    ground: tuple[int, int, int]
    seed: int

    @property
    def source(self) -> str:
        """Return the name that a clip and its reversal share."""
        return self.key.removesuffix("-forward").removesuffix("-reverse")


def training_scenes(count: int, seed: int) -> list[Scene]:
    """Return `count` scenes of the train split; motions, directions, shapes and colours balanced."""
    kinds = (*MOTIONS, "circling")  # the hardest to learn is included twice
    return [
        _scene(f"train-{i:04d}", i, seed, kinds[i % len(kinds)], TRAINED, backwards=i // len(kinds) % 2 == 1)
        for i in range(count)
    ]


def evaluation_scenes(pairs: int, seed: int) -> list[Scene]:
    """Return 2 * `pairs` scenes: each forward one is followed by its exact reversal.

    None is among the training scenes.
    """
    scenes = []
    for i in range(pairs):
        motion, paces = MOTIONS[i % len(MOTIONS)], SUBTLE if i % 7 == 3 else PLAIN
        for name, backwards in (("forward", False), ("reverse", True)):
            scenes.append(_scene(f"scene-{i:04d}-{name}", EVALUATION + i, seed, motion, paces, backwards=backwards))
    return scenes


def counting_scenes(count: int, seed: int) -> list[Scene]:
    """Return `count` scenes of an object that blinks two to five times, each count equally often."""
    scenes = []
    for i in range(count):
        plain = _scene(f"blink-{i:04d}", COUNTING + i, seed, BLINKING, PLAIN)
        scenes.append(replace(plain, facts=replace(plain.facts, times=list(COUNTS)[i % len(COUNTS)])))
    return scenes


def draw(scene: Scene, side: int = SIDE) -> NDArray[np.uint8]:
    """Return the clip: (FRAMES, side, side, 3) RGB; a reversed scene is the forward one's frames, last first."""
    noise = np.random.default_rng(scene.seed)
    grain = noise.normal(0, NOISE, (side, side, 1)).astype(np.float32)
    ground = (np.asarray(scene.ground, np.float32) + grain).clip(0, 255).astype(np.uint8)
    frames = np.repeat(ground[None], FRAMES, axis=0)
    colour = np.asarray(RGB[scene.facts.colour], np.float32)
    for frame, (x, y, radius, opacity) in zip(frames, _course(scene), strict=True):
        _paint(frame, scene.facts.shape, colour, (x * side, y * side, radius * side), opacity)
    return frames[::-1].copy() if scene.facts.reverse else frames


def _scene(
    key: str, index: int, seed: int, motion: str, paces: tuple[float, float], *, backwards: bool = False
) -> Scene:
    chance = np.random.default_rng([seed, index])
    colour = COLOURS[int(chance.integers(len(COLOURS)))]
    shape = SHAPES[(index + index // len(SHAPES)) % len(SHAPES)]
    size = float(chance.uniform(0.13, 0.19))
    x, y, angle = (float(v) for v in chance.uniform((0.3, 0.3, 0), (0.7, 0.7, 2 * np.pi)))
    pace = float(chance.uniform(*paces))
    start, end, radii, opacity, turn = (x, y), (x, y), (size, size), (1.0, 1.0), (0.0, 0.0)
    if motion == "across":
        start, end = (0.5 - 0.26 * pace, y), (0.5 + 0.26 * pace, y)
    elif motion == "vertical":
        start, end = (x, 0.5 - 0.26 * pace), (x, 0.5 + 0.26 * pace)
    elif motion == "size":
        radii = (size * (1 - 0.3 * pace), size * (1 + 0.5 * pace))
    elif motion == "fading":
        opacity = (1 - pace, 1.0)
    elif motion == "drifting":
        out_x, out_y = 0.33 * np.cos(angle), 0.33 * np.sin(angle)
        start, end = (0.5 + out_x, 0.5 + out_y), (0.5 + out_x * (1 - pace), 0.5 + out_y * (1 - pace))
    elif motion == "circling":
        turn = (angle, 2 * np.pi * (0.9 * pace) ** 0.5)
    ground = tuple(int(v) for v in chance.integers(18, 60, 3))
    facts = Facts(shape, colour, motion, backwards)
    return Scene(key, facts, start, end, radii, opacity, turn, (ground[0], ground[1], ground[2]), seed * 7919 + index)


def _course(scene: Scene) -> Iterator[tuple[float, float, float, float]]:
    """Return (x, y, radius, opacity) at each frame of the forward clip.

    Screen y points down: growing angles are clockwise.
    """
    for frame, share in enumerate(np.linspace(0, 1, FRAMES)):
        x, y = (a + (b - a) * share for a, b in zip(scene.start, scene.end, strict=True))
        if scene.turn[1]:
            angle = scene.turn[0] + scene.turn[1] * share
            x, y = 0.5 + 0.3 * np.cos(angle), 0.5 + 0.3 * np.sin(angle)
        radius, opacity = (a + (b - a) * share for a, b in (scene.radii, scene.opacity))
        if scene.facts.times:
            opacity = 1.0 if frame * scene.facts.times % FRAMES < FRAMES / 2 else 0.0
        yield float(x), float(y), float(radius), float(opacity)


def _paint(
    picture: NDArray[np.uint8],
    shape: str,
    colour: NDArray[np.float32],
    circle: tuple[float, float, float],
    opacity: float,
) -> None:
    """Blend the shape into `picture` (side, side, 3), in place, within the box it fills; edges one pixel soft."""
    x, y, radius = circle
    side = len(picture)
    low_x, high_x = max(0, int(x - radius - 2)), min(side, int(x + radius + 3))
    low_y, high_y = max(0, int(y - radius - 2)), min(side, int(y + radius + 3))
    across = (np.arange(low_x, high_x, dtype=np.float32) - x)[None, :] / radius
    down = (np.arange(low_y, high_y, dtype=np.float32) - y)[:, None] / radius
    coverage = (np.clip(0.5 - _DISTANCE[shape](across, down) * radius, 0, 1) * opacity)[..., None]
    box = picture[low_y:high_y, low_x:high_x]
    box[:] = (box + coverage * (colour - box)).round().clip(0, 255)


Grid = NDArray[np.floating]


def _circle(x: Grid, y: Grid) -> Grid:
    return np.hypot(x, y) - 1


def _ring(x: Grid, y: Grid) -> Grid:
    return np.abs(np.hypot(x, y) - 0.74) - 0.24


def _square(x: Grid, y: Grid) -> Grid:
    return np.maximum(np.abs(x), np.abs(y)) - 0.84


def _triangle(x: Grid, y: Grid) -> Grid:
    return np.maximum(np.abs(x) * 0.9 - 0.45 * y - 0.42, y - 0.8)


def _cross(x: Grid, y: Grid) -> Grid:
    long, short = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    return np.maximum(long - 0.98, short - 0.27)


def _star(x: Grid, y: Grid) -> Grid:
    angle = np.arctan2(x, -y)
    from_tip = np.abs((angle + np.pi / 5) % (2 * np.pi / 5) - np.pi / 5)
    return (np.hypot(x, y) * (0.46 * np.cos(from_tip) + 0.84 * np.sin(from_tip)) - 0.46) * 0.9


_DISTANCE: dict[str, Callable[[Grid, Grid], Grid]] = {
    # signed, in radii: negative inside
    "circle": _circle,
    "ring": _ring,
    "square": _square,
    "triangle": _triangle,
    "cross": _cross,
    "star": _star,
}
