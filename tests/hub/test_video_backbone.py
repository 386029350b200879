"""Frozen video backbones: their tokens, and that pixels reach them as their processors ask."""

from pathlib import Path

import numpy as np
import pytest
import torch

from foilworks.core.hub.catalogue.registry import BACKBONE
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import FeatureExtractor, VideoMeta
from foilworks.core.hub.opening import open_helper
from tests.hub import folders, video_folders

# Tokens of a clip of 16 x 16 pixels in patches of 8: 2 x 2 a frame or pair of frames, and what the model adds.
TOKENS = {"videomae": (4, 2 * 4, 16), "vjepa2": (16, 8 * 4, 24), "timesformer": (4, 4 * 4 + 1, 16), "vivit": (4, 9, 16)}


@pytest.mark.parametrize("kind", TOKENS)
def test_tokens_of_a_clip_are_the_same_in_a_batch_as_alone(kind: str, tmp_path: Path) -> None:
    backbone = open_helper(str(getattr(video_folders, kind)(tmp_path / kind)), BACKBONE, device="cpu")
    frames, count, width = TOKENS[kind]
    assert isinstance(backbone, FeatureExtractor)
    assert backbone.info.frames == frames
    clips = [np.random.default_rng(n).integers(0, 256, (frames, 20, 30, 3), np.uint8) for n in range(5)]
    rows = backbone.features(clips, [VideoMeta()] * 5)
    assert rows.shape == (5, count, width)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[4], backbone.features(clips[4:], [VideoMeta()])[0], atol=1e-5)
    assert np.abs(rows[0] - rows[1]).max() > 1e-3
    assert len(backbone.features([], [])) == 0


def test_vivits_pixels_go_from_minus_one_to_one(tmp_path: Path) -> None:
    folder = video_folders.vivit(tmp_path / "m")
    (folder / "preprocessor_config.json").unlink()
    backbone = open_helper(str(folder), BACKBONE, device="cpu")
    ends = np.zeros((4, 224, 224, 3), np.uint8)
    ends[2:] = 255
    shown = backbone._clip_pixels(ends)
    assert (float(shown.min()), float(shown.max())) == pytest.approx((-1, 1))
    assert shown.shape == (4, 3, 224, 224)
    assert shown.dtype == torch.float32


def test_frames_and_kind_are_checked(tmp_path: Path) -> None:
    folder = video_folders.timesformer(tmp_path / "m")
    with pytest.raises(HubError, match=r"it was built for 4 frames; leave out \?frames=8"):
        open_helper(f"{folder}?frames=8", BACKBONE, device="cpu")
    with pytest.raises(HubError, match=r"model type 'clip' is not a supported backbone; choose one of: videomae"):
        open_helper(str(folders.clip(tmp_path / "clip")), BACKBONE, device="cpu")
