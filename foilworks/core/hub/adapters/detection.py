"""Detect objects in each frame of a clip (DETR, YOLOS and others that AutoModelForObjectDetection loads).

The frames of a clip have one size, so nothing is padded. Labels are the model's own, lower-cased.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForObjectDetection, ImageProcessingMixin

from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Detection, Frames, ModelInfo, ScoreKind
from foilworks.core.hub.loading.pretrained import Pretrained, load_pretrained, model_source

# No threshold is as low as this.
MIN_SCORE = 0.05
SHORT_SIDE, LONG_SIDE = 800, 1333
FRAMES = 8
FRAMES_PER_BATCH = 4


class ObjectDetector:
    """The Detector of a loaded model."""

    def __init__(self, loaded: Pretrained, pixels: Pixels, longest: int) -> None:
        self.model, self.device, self.pixels, self._longest = loaded.model, loaded.device, pixels, longest
        self._labels = {at: str(name).lower() for at, name in loaded.model.config.id2label.items()}
        card = {"category": "detector", "bound": f"{pixels.resize} to {longest}"}
        self.info = ModelInfo(loaded.name, loaded.revision, ScoreKind.LOGIT, frames=FRAMES, card=card)

    @torch.inference_mode()
    def detect(self, frames: Frames) -> list[list[Detection]]:
        """Return the objects in each frame of (k, height, width, 3), highest score first."""
        if not len(frames):
            return []
        images = self._images(frames)
        detections: list[list[Detection]] = []
        for at in range(0, len(images), FRAMES_PER_BATCH):
            output = self.model(pixel_values=images[at : at + FRAMES_PER_BATCH].to(self.model.dtype))
            scores = self._scores(output.logits.float()).cpu().numpy()
            boxes = output.pred_boxes.float().cpu().numpy()
            detections += [self._detections(*frame_output) for frame_output in zip(scores, boxes, strict=True)]
        return detections

    def _images(self, frames: Frames) -> torch.Tensor:
        height, width = frames.shape[1:3]
        if not isinstance(self.pixels.resize, int):
            return self.pixels(frames, self.device)
        scale = min(self.pixels.resize / min(height, width), self._longest / max(height, width))
        size = (max(1, round(height * scale)), max(1, round(width * scale)))
        return replace(self.pixels, resize=size)(frames, self.device)

    def _scores(self, logits: torch.Tensor) -> torch.Tensor:
        """Return (k, queries, labels) scores. If there is one more output than labels, the last means "nothing";
        otherwise each label is independent."""
        if logits.shape[-1] == len(self._labels) + 1:
            return logits.softmax(-1)[..., :-1]
        return logits.sigmoid()

    def _detections(self, scores: np.ndarray, boxes: np.ndarray) -> list[Detection]:
        best = scores.argmax(1)
        detections = [
            Detection(self._labels[int(label)], float(row[label]), _corners(box))
            for label, row, box in zip(best, scores, boxes, strict=True)
            if row[label] >= MIN_SCORE
        ]
        return sorted(detections, key=lambda detection: (-detection.score, detection.label))


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> ObjectDetector:
    """Load the detector of a hub id or folder. HubError: it has no boxes, or its preprocessor_config.json is
    missing."""
    loaded = load_pretrained(AutoModelForObjectDetection, argument, slug="detector", device=device, dtype=dtype)
    pixels, longest = _pixels(argument)
    return ObjectDetector(loaded, pixels, longest)


def _pixels(argument: str) -> tuple[Pixels, int]:
    """Return how frames are prepared, and the max length of the longer side."""
    pixels = Pixels.of(argument, (SHORT_SIDE, LONG_SIDE))
    size: Any = _raw(argument).get("size")
    # Old files have the longer side in a field of its own, or the shorter one as a number.
    longest = size.get("longest_edge") if isinstance(size, dict) else _raw(argument).get("max_size")
    return pixels, int(longest or LONG_SIDE)


def _raw(argument: str) -> dict[str, Any]:
    source, revision = model_source(argument)
    options: dict[str, Any] = {"revision": revision} if revision else {}
    try:
        raw, _ = ImageProcessingMixin.get_image_processor_dict(source, **options)
    except (OSError, ValueError) as error:
        raise HubError(f"{argument}: preprocessor_config.json: unreadable; copy it beside config.json") from error
    return dict(raw)


def _corners(box: np.ndarray) -> tuple[float, float, float, float]:
    """Turn centre, width and height, as shares, into corners within the frame."""
    x, y, w, h = (float(value) for value in box)
    left, top, right, bottom = x - w / 2, y - h / 2, x + w / 2, y + h / 2
    return (max(0.0, left), max(0.0, top), min(1.0, right), min(1.0, bottom))
