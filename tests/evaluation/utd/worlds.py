"""Small worlds of the demo's scenes, filmed, with classes of a test's choice; and a captioner that is trained here."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from django.core.files.base import ContentFile

from foilworks.core.corpus.models import Video
from foilworks.core.hub.adapters._scene_reader import read_still
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Project
from foilworks.site.demo.captions import COLOURS, ONE_WAY, SHAPES, Facts, direction_caption
from foilworks.site.demo.shape_videos import FPS, Scene, draw
from tests.factories import make_caption, make_video

AXES = ("across", "vertical")
SIDE = 96
FIRST = 3_000_000


def scenes(rounds: int, seed: int = 0) -> list[Scene]:
    """24 * `rounds` scenes: in each round every shape, in one colour, goes all four ways on the same paths.

    So what a thing is says nothing of its way, and the way nothing of the thing, to the last clip.
    """
    chance = np.random.default_rng(seed)
    found = []
    for number in range(rounds):
        pace, aside = chance.uniform(0.1, 0.26), chance.uniform(0.12, 0.18) * chance.choice([-1, 1])
        for shape in range(len(SHAPES)):
            index = FIRST + number * len(SHAPES) + shape
            colour = COLOURS[int(chance.integers(len(COLOURS)))]
            for axis in AXES:
                ends = [(0.5 + aside, 0.5 - pace), (0.5 + aside, 0.5 + pace)]
                start, end = ends if axis == "vertical" else [(y, x) for x, y in ends]
                for backwards in (False, True):
                    key = f"w{seed}-{number}-{SHAPES[shape]}-{axis}-{'reverse' if backwards else 'forward'}"
                    facts = Facts(SHAPES[shape], colour, axis, backwards)
                    ground = (30, 34, 40)
                    found.append(Scene(key, facts, start, end, (0.16, 0.16), (1.0, 1.0), (0.0, 0.0), ground, index))
    return found


def direction(scene: Scene) -> str:
    return ONE_WAY[scene.facts.motion][scene.facts.reverse]


def shape(scene: Scene) -> str:
    return scene.facts.shape


def coloured_by_direction(scene: Scene) -> Scene:
    """The planted bias: each direction has its colour."""
    ways = [way for axis in AXES for way in ONE_WAY[axis]]
    colours = dict(zip(ways, ("red", "green", "blue", "yellow"), strict=True))
    return replace(scene, facts=replace(scene.facts, colour=colours[direction(scene)]))


def film(project: Project, folder: Path, shown: Sequence[Scene], split: str, label: Callable[[Scene], str]) -> None:
    """The scenes as videos of the project with a class and a caption each."""
    folder.mkdir(parents=True, exist_ok=True)
    for scene in shown:
        video = make_video(
            project,
            key=scene.key,
            split=split,
            class_label=label(scene),
            source_dataset="world",
            source_id=scene.source,
            sha256=scene.key,
        )
        attach(video, folder, scene)
        facts = {"direction": direction(scene), "shape": shape(scene)}
        make_caption(video, direction_caption(scene.facts), facts=facts)


def attach(video: Video, folder: Path, scene: Scene) -> None:
    path = folder / f"{scene.key}.mp4"
    write_mp4(path, draw(scene, SIDE), FPS)
    video.file.save(path.name, ContentFile(path.read_bytes()))


def stills(shown: Sequence[Scene]) -> tuple[np.ndarray, list[str]]:
    """Every third frame of the scenes, with what a perfect describer says of it."""
    frames = np.concatenate([draw(scene, SIDE)[::3] for scene in shown])
    return frames, [still.description for frame in frames if (still := read_still(frame))]
