"""Extract tokens from frozen video backbones, supervised or self-supervised (VideoMAE, V-JEPA 2, TimeSformer, ViViT).

A classifier on these tokens is attention pooling and a linear layer (UTD, Secs. 5.1 and B.4).
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from foilworks.core.hub.batching.dual_encoders import check_clips, plain
from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.catalogue.options import split_options
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, load_pretrained
from foilworks.core.hub.loading.processor_files import video_settings
from foilworks.core.text.quoting import quoted

# Eight frames, and as many more as a backbone takes together in one token (UTD, Sec. B.4).
FRAMES = 8
CLIPS_PER_BATCH = 4
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
SQUARE = {
    "size": {"shortest_edge": 224},
    "crop_size": {"height": 224, "width": 224},
    "do_center_crop": True,
    "resample": 2,
}
DEFAULTS = {
    "videomae": {**SQUARE, "image_mean": [0.5] * 3, "image_std": [0.5] * 3},
    "timesformer": {**SQUARE, **IMAGENET},
    "vivit": {**SQUARE, "size": {"shortest_edge": 256}, "do_normalize": False, "rescale_factor": 1 / 127.5},
    "vjepa2": {
        **SQUARE,
        **IMAGENET,
        "size": {"shortest_edge": 292},
        "crop_size": {"height": 256, "width": 256},
    },
}


class VideoBackbone:
    """The FeatureExtractor of a loaded model."""

    def __init__(self, loaded: Pretrained, pixels: Pixels, frames: int) -> None:
        self.model, self.device, self.pixels = loaded.model, loaded.device, pixels
        self.kind = loaded.model.config.model_type
        self._dtype = next(loaded.model.parameters()).dtype
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision} frames={frames}",
            ScoreKind.LOGIT,
            frames=frames,
            card={"category": "video backbone"},
        )

    @torch.inference_mode()
    def features(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """Return the last hidden states (n, tokens, d) of n clips of `info.frames` frames."""
        check_clips(clips, meta, self.info)
        rows = []
        for at in range(0, len(clips), CLIPS_PER_BATCH):
            pixels = torch.stack([self._clip_pixels(clip) for clip in clips[at : at + CLIPS_PER_BATCH]]).to(self._dtype)
            inputs = {"pixel_values_videos": pixels, "skip_predictor": True}
            output = self.model(**(inputs if self.kind == "vjepa2" else {"pixel_values": pixels}))
            rows.append(plain(output.last_hidden_state))
        return np.concatenate(rows) if rows else np.zeros((0, 1, 1), np.float32)

    def _clip_pixels(self, clip: Frames) -> torch.Tensor:
        pixels = self.pixels(clip, self.device)
        # ViViT's own scale: from -1 to 1 by an offset.
        return pixels - 1 if self.kind == "vivit" else pixels


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> VideoBackbone:
    """Load `HUB_ID_OR_FOLDER[?frames=16]`. HubError: it does not load, is not a supported backbone, or takes other
    frames."""
    name, options = split_options(argument, {"frames": int})
    loaded = load_pretrained(AutoModel, name, slug="backbone", device=device, dtype=dtype)
    config = loaded.model.config
    if config.model_type not in DEFAULTS:
        kinds = ", ".join(DEFAULTS)
        raise HubError(
            f"{name}: model type {quoted(config.model_type)} is not a supported backbone; choose one of: {kinds}"
        )
    tubelet = getattr(config, "tubelet_size", 1)
    fixed = getattr(config, "num_frames", None)
    frames = fixed or options.get("frames", FRAMES * (tubelet if isinstance(tubelet, int) else tubelet[0]))
    if options.get("frames", frames) != frames:
        raise HubError(f"{name}: it was built for {frames} frames; leave out ?frames={options['frames']}")
    file_settings = {key: value for key, value in video_settings(name).items() if value is not None}
    settings = {**DEFAULTS[config.model_type], **file_settings}
    side = getattr(config, "image_size", 224)
    return VideoBackbone(loaded, Pixels.from_settings(settings, (side, side)), frames)
