"""The demo's videos show what their captions say, and every evaluation clip has its exact reversal."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from foilworks.core.media.encode import write_mp4
from foilworks.core.media.frames import sample_frames
from foilworks.site.demo.captions import COLOURS, MOTIONS, SHAPES
from foilworks.site.demo.shape_videos import (
    FPS,
    FRAMES,
    RGB,
    Scene,
    counting_scenes,
    draw,
    evaluation_scenes,
    training_scenes,
)

SIDE = 96


def cover(scene: Scene, frame: np.ndarray) -> np.ndarray:
    """How much of the thing is in each pixel, 0..1: along the line from the ground's colour to the thing's."""
    ground, colour = np.array(scene.ground, float), np.array(RGB[scene.facts.colour], float)
    way = colour - ground
    share = (frame - ground) @ way / (way @ way)
    return np.where(share > 0.2, share, 0)


def measured(scene: Scene, frame: np.ndarray) -> tuple[float, float, float, float]:
    """Mean x, mean y, area in pixels and strongest cover of the thing in a frame."""
    there = cover(scene, frame)
    y, x = np.mgrid[: len(frame), : len(frame)]
    area = there.sum()
    return float((x * there).sum() / area), float((y * there).sum() / area), float(area), float(there.max())


@pytest.mark.parametrize("scene", evaluation_scenes(2 * len(MOTIONS), 3)[::2], ids=lambda scene: scene.facts.motion)
def test_forward_clips_do_what_is_said(scene: Scene) -> None:
    """Forward is: to the right, downwards, larger, clockwise, into view, toward the middle."""
    frames = draw(scene, SIDE)
    first, last = measured(scene, frames[4]), measured(scene, frames[-1])
    middle = SIDE / 2
    match scene.facts.motion:
        case "across":
            assert last[0] > first[0]
        case "vertical":
            assert last[1] > first[1]
        case "size":
            assert last[2] > first[2]
        case "fading":
            assert last[3] > first[3]
        case "drifting":
            assert np.hypot(last[0] - middle, last[1] - middle) < np.hypot(first[0] - middle, first[1] - middle)
        case "circling":
            places = [measured(scene, frame)[:2] for frame in frames]
            angles = np.unwrap([np.arctan2(y - middle, x - middle) for x, y in places])
            # Screen y points down, so clockwise to the eye is growing.
            assert (np.diff(angles) > 0).all()


def test_each_evaluation_clip_is_followed_by_its_exact_reversal() -> None:
    scenes = evaluation_scenes(7, 0)
    for forward, backward in zip(scenes[::2], scenes[1::2], strict=True):
        assert forward.source == backward.source
        assert (forward.facts.reverse, backward.facts.reverse) == (False, True)
        np.testing.assert_array_equal(draw(forward, SIDE)[::-1], draw(backward, SIDE))


def test_a_sample_of_the_reversal_is_the_reversal_of_the_sample(tmp_path: Path) -> None:
    """16 of 24 frames at bin centres: the same frames either way, but for what the codec loses."""
    samples = []
    for scene in evaluation_scenes(1, 0):
        write_mp4(tmp_path / f"{scene.key}.mp4", draw(scene), FPS)
        samples.append(sample_frames(tmp_path / f"{scene.key}.mp4", 16, size=(32, 32)).frames.astype(int))
    forward, backward = samples
    assert np.abs(forward - backward[::-1]).mean() < 1.0  # of 255 grey levels
    assert np.abs(forward.mean(axis=0) - backward.mean(axis=0)).max() < 6


def test_no_scene_of_training_is_one_of_evaluation_and_seeds_are_worlds() -> None:
    train, test = training_scenes(60, 0), evaluation_scenes(30, 0)
    keys = [scene.key for scene in (*train, *test, *counting_scenes(8, 0))]
    assert len(set(keys)) == len(keys)
    courses = [(scene.start, scene.end, scene.radii) for scene in (*train, *test[::2])]
    assert len(set(courses)) == len(courses)
    assert training_scenes(60, 0) == train
    assert training_scenes(60, 1) != train


def test_the_world_is_balanced() -> None:
    facts = [scene.facts for scene in evaluation_scenes(84, 0)]
    # 84 pairs of 6 motions and 6 shapes: 28 clips each, and each motion as often forwards as backwards.
    assert Counter(fact.motion for fact in facts) == dict.fromkeys(MOTIONS, 28)
    assert Counter(fact.shape for fact in facts) == dict.fromkeys(SHAPES, 28)
    assert set(Counter((fact.motion, fact.reverse) for fact in facts).values()) == {14}
    assert {fact.colour for fact in facts} == set(COLOURS)
    trained = Counter((scene.facts.motion, scene.facts.reverse) for scene in training_scenes(420, 0))
    assert all(trained[motion, True] == trained[motion, False] for motion in MOTIONS)


@pytest.mark.parametrize("scene", counting_scenes(8, 0), ids=lambda scene: str(scene.facts.times))
def test_a_thing_blinks_as_often_as_is_said(scene: Scene) -> None:
    shown = [cover(scene, frame).max() > 0.5 for frame in draw(scene, SIDE)]
    begins = sum(now and not before for before, now in zip([False, *shown], shown, strict=False))
    assert begins == scene.facts.times


def test_clips_are_two_seconds_that_a_player_shows() -> None:
    frames = draw(training_scenes(1, 0)[0])
    assert frames.shape == (FRAMES, 256, 256, 3)
    assert FRAMES / FPS == 2
