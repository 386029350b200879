"""Training: reproducible to the last bit, and what it learns is what the architecture can see."""

from collections.abc import Collection

import numpy as np
import pytest
import torch

from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyEmbedder, TinyVideoText
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.site.demo.captions import MOTIONS, direction_caption, object_caption, reversed_caption
from foilworks.site.demo.shape_videos import draw, training_scenes
from foilworks.site.demo.training import TrainingSet, train


def world(count: int, motions: Collection[str] = MOTIONS) -> TrainingSet:
    scenes = [scene for scene in training_scenes(count, 0) if scene.facts.motion in motions]
    return TrainingSet(
        clips=np.stack([draw(scene, 32)[::3] for scene in scenes]),
        directions=[direction_caption(scene.facts) for scene in scenes],
        objects=[object_caption(scene.facts) for scene in scenes],
    )


def config(architecture: str) -> TinyConfig:
    return TinyConfig(architecture, f"tiny/{architecture}", frames=8, size=32)


def weights(model: TinyVideoText) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in model.state_dict().items()}


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    data = world(14)
    first, again, other = (weights(train(data, config("temporal"), seed=s, epochs=2)[0]) for s in (0, 0, 1))
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
    assert any(not np.array_equal(value, other[name]) for name, value in first.items())


def test_torch_is_left_as_it_was_found() -> None:
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    train(world(7), config("average"), seed=5, epochs=1)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), state)


def test_each_epoch_is_heard_of() -> None:
    heard: list[tuple[int, float]] = []
    train(world(7), config("average"), seed=0, epochs=3, heard=lambda epoch, loss: heard.append((epoch, loss)))
    assert [epoch for epoch, _ in heard] == [1, 2, 3]
    assert all(np.isfinite(loss) for _, loss in heard)


@pytest.mark.parametrize(("architecture", "least", "most"), [("average", 0.5, 0.5), ("temporal", 0.9, 1.0)])
def test_only_the_temporal_model_learns_the_way_that_things_go(architecture: str, least: float, most: float) -> None:
    """On the clips that it trained on and their reversals: chance is exactly one half for a mean over frames."""
    data = world(84, {"across", "fading"})
    model, vocabulary = train(data, config(architecture), seed=0, epochs=80)
    adapter = TinyEmbedder(model, vocabulary, "0", torch.device("cpu"), {})
    clips = [*data.clips, *(clip[::-1].copy() for clip in data.clips)]
    said = [*data.directions, *map(reversed_caption, data.directions)]
    videos = adapter.encode_video(clips, [VideoMeta()] * len(clips))
    right = (videos * adapter.encode_text(said)).sum(axis=1)
    wrong = (videos * adapter.encode_text([reversed_caption(text) for text in said])).sum(axis=1)
    assert least <= (right > wrong).mean() <= most
