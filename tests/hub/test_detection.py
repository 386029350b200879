"""Detectors: frames in, labels with scores and boxes out, one frame at a time or all together."""

import json

import numpy as np
import pytest
import torch
from transformers import DetrForObjectDetection

from foilworks.core.hub.catalogue.registry import DETECTOR
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Detector
from foilworks.core.hub.opening import open_helper
from tests.hub import folders

FRAMES = np.random.default_rng(0).integers(0, 256, (5, 40, 80, 3), np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return folders.detector(tmp_path_factory.mktemp("detr") / "model")


@pytest.fixture(params=["fake", "detr"])
def detector(request, folder) -> Detector:
    return open_helper("fake-detector:" if request.param == "fake" else str(folder), DETECTOR, device="cpu")


def test_every_frame_gets_its_detections_best_first(detector):
    found = detector.detect(FRAMES)
    assert isinstance(detector, Detector)
    assert len(found) == len(FRAMES)
    assert any(found)
    for row in found:
        assert [one.score for one in row] == sorted((one.score for one in row), reverse=True)
        for one in row:
            assert 0 <= one.score <= 1
            assert one.label == one.label.lower()
            assert all(0 <= corner <= 1 for corner in one.box)


def test_a_frame_gets_the_same_detections_in_a_batch_as_alone(detector):
    together = detector.detect(FRAMES)
    for frame, row in zip(FRAMES, together, strict=True):
        (alone,) = detector.detect(frame[None])
        assert [one.label for one in alone] == [one.label for one in row]
        assert [one.score for one in alone] == pytest.approx([one.score for one in row], abs=1e-4)


def test_no_frames_give_no_rows(detector):
    assert detector.detect(FRAMES[:0]) == []


def test_scores_leave_out_the_label_for_nothing(folder):
    """By hand: the shorter side would be 32, but the longer one may be 48 at most, so 40 x 80 becomes 24 x 48."""
    detector = open_helper(str(folder), DETECTOR, device="cpu")
    own = DetrForObjectDetection.from_pretrained(folder).eval()
    mean, std = (torch.tensor(detector.pixels.__dict__[name]).view(1, 3, 1, 1) for name in ("mean", "std"))
    small = torch.nn.functional.interpolate(
        torch.from_numpy(FRAMES[:1]).permute(0, 3, 1, 2), (24, 48), mode="bilinear", antialias=True
    )
    with torch.inference_mode():
        logits = own(pixel_values=(small.float() / 255 - mean) / std).logits
    wanted = logits.softmax(-1)[0, :, :-1].max(1).values.sort(descending=True).values
    (found,) = detector.detect(FRAMES[:1])
    kept = [value for value in wanted.tolist() if value >= 0.05]
    assert [one.score for one in found] == pytest.approx(kept, abs=1e-3)


def test_the_error_names_a_folder_without_preprocessor(folder, tmp_path):
    for path in folder.iterdir():
        if path.name != "preprocessor_config.json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(HubError, match="preprocessor_config"):
        open_helper(str(tmp_path), DETECTOR, device="cpu")
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["model_type"] == "detr"
