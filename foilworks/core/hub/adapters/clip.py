"""Score with image-text encoders of the CLIP type by AutoModel (CLIP, SigLIP, SigLIP 2, MetaCLIP 2), frame by frame.

Files of weights of OpenAI, open_clip and CLIP4Clip are converted (foilworks.core.hub.loading.clip_checkpoints).

The vectors of single frames are stored, so that every pooling comes from one pass: the mean of features (the
default, then normalised), the mean of logits, and ViLMA's mean of softmaxes (`softmax_mean`). Similarity is float32.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from foilworks.core.hub.batching.dual_encoders import Tokens, check_clips, encoded, unit
from foilworks.core.hub.batching.pixels import Pixels, patch_rows
from foilworks.core.hub.catalogue.options import split_options
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, TextRead, VideoMeta
from foilworks.core.hub.loading.clip_checkpoints import OPTIONS, load_checkpoint
from foilworks.core.hub.loading.pretrained import WEIGHT_FILES, Pretrained, load_pretrained, load_tokenizer
from foilworks.core.text.quoting import quoted

FRAMES = 8
# A CPU's caches fill sooner.
IMAGES_PER_BATCH = {"cuda": 64, "cpu": 8}
POOLINGS = ("features", "logits")
FREE = "siglip2"
NEEDED = ("get_image_features", "get_text_features", "logit_scale")


class FrameEmbedder:
    """The Embedder of a loaded model. Video rows are (frames, d), each of length one; text rows (d,) of length one."""

    encodes_by_frame = True

    def __init__(
        self,
        loaded: Pretrained,
        tokenizer: Any,
        pixels: Pixels,
        *,
        frames: int,
        pooling: str,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.model, self.tokenizer, self.device, self.pixels = loaded.model, tokenizer, loaded.device, pixels
        # `settings`: how pictures are made, if no file beside the model says so.
        self.pooling, self.settings = pooling, settings
        # SigLIP was trained on texts padded to full length, and has no mask; CLIP masks its padding.
        self._full_length = "siglip" in loaded.model.config.model_type
        # SigLIP 2 with free sizes takes rows of patches; `patches` at most of them a picture.
        self._patches = loaded.model.config.vision_config.num_patches if loaded.model.config.model_type == FREE else 0
        self._tokens = Tokens(tokenizer, loaded.model.config, full_length=self._full_length, device=loaded.device)
        self._dtype = next(loaded.model.parameters()).dtype
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision} frames={frames} pooling={pooling}{self._tokens.mark}",
            ScoreKind.COSINE if pooling == "features" else ScoreKind.LOGIT,
            frames=frames,
            card={"category": "image-text"},
        )

    def shrink(self, frames: Frames) -> Frames:
        """Resize frames as the model needs them; SigLIP 2 of free sizes cuts its patches from the frames as decoded."""
        return frames if self._patches else self.pixels.smaller(frames)

    @torch.inference_mode()
    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """Encode n clips of k frames, each of its own height and width, as (n, k, d)."""
        check_clips(clips, meta, self.info)
        inputs, step = self._images(clips), IMAGES_PER_BATCH[self.device.type]
        rows = [
            self.model.get_image_features(
                **{name: tensor[at : at + step] for name, tensor in inputs.items()}
            ).pooler_output
            for at in range(0, len(inputs["pixel_values"]), step)
        ]
        return unit(torch.cat(rows)).reshape(len(clips), self.info.frames, -1)

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as (m, d); longer texts are cut to the model's limit."""
        return encoded(texts, self._tokens, lambda batch: unit(self.text_rows(batch)))

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return self._tokens.at_limit(texts)

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the (n, m) cosines with the mean feature, or means of the frames' logits, of (n, k, d) and (m, d)."""
        if self.pooling == "logits":
            return self.frame_logits(videos, texts).mean(1)
        mean = videos.astype(np.float32, copy=False).mean(1)
        return mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12) @ texts.T

    def frame_logits(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return (n, k, m): each frame's cosine times the model's own scale, plus its bias if it has one."""
        scale = float(self.model.logit_scale.detach().float().exp())
        bias = getattr(self.model, "logit_bias", None)
        shift = 0.0 if bias is None else float(bias.detach().float())
        return (videos @ texts.T * np.float32(scale) + np.float32(shift)).astype(np.float32)

    def text_rows(self, texts: Sequence[str]) -> torch.Tensor:
        """Return m texts as (m, d) in the model's own scale, with gradients if they are enabled."""
        tokens = self._tokens(texts)
        inputs = {"input_ids": tokens["input_ids"]}
        if not self._full_length:
            inputs["attention_mask"] = tokens["attention_mask"]
        return self.model.get_text_features(**inputs).pooler_output

    def frame_rows(self, clips: Sequence[Frames]) -> torch.Tensor:
        """Return n clips as (n, k, d) in the model's own scale, all frames in one forward pass."""
        rows = self.model.get_image_features(**self._images(clips)).pooler_output
        return rows.reshape(len(clips), self.info.frames, -1)

    def _images(self, clips: Sequence[Frames]) -> dict[str, torch.Tensor]:
        if not self._patches:
            return {"pixel_values": torch.cat([self.pixels(clip, self.device) for clip in clips]).to(self._dtype)}
        size = self.model.config.vision_config.patch_size
        patched_clips = [patch_rows(clip, self.pixels, size, self._patches, self.device) for clip in clips]
        rows, masks, shapes = (torch.cat(tensors) for tensors in zip(*patched_clips, strict=True))
        return {"pixel_values": rows.to(self._dtype), "pixel_attention_mask": masks, "spatial_shapes": shapes}


def softmax_mean(frame_logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ViLMA's score of a caption among its foils: (n, k, m) -> (n, m), softmax over texts per frame,
    averaged."""
    powers = np.exp(frame_logits - frame_logits.max(axis=2, keepdims=True))
    return (powers / powers.sum(axis=2, keepdims=True)).mean(1)


def is_dual_encoder(model: Any) -> bool:
    """Whether a model encodes images and texts independently. X-CLIP's texts depend on the clip."""
    return all(hasattr(model, attribute) for attribute in NEEDED) and not hasattr(model, "prompts_generator")


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> FrameEmbedder:
    """Load `HUB_ID_OR_FOLDER[?frames=8&pooling=features|logits]`, or a file of weights, which also takes
    `activation=quick_gelu|gelu` and `tokenizer=FOLDER`; of CLIP4Clip with 12 frames by default.
    HubError: it does not load, or is not a dual encoder."""
    path = Path(argument.partition("?")[0])
    option_types: dict[str, type | range] = {"frames": int, "pooling": str}
    if not path.exists() and any(path.match(kind) for kind in WEIGHT_FILES):
        raise HubError(f"{path}: there is no such file of weights; give its path from the root")
    name, options = split_options(argument, {**option_types, **OPTIONS} if path.is_file() else option_types)
    pooling = options.get("pooling", "features")
    if pooling not in POOLINGS:
        raise HubError(f"{quoted(argument)}: pooling is {quoted(pooling)}; choose one of: {', '.join(POOLINGS)}")
    embedder_options = {"frames": options.get("frames", FRAMES), "pooling": pooling}
    if path.is_file():
        checkpoint = load_checkpoint(path, options, device=device, dtype=dtype)
        embedder_options["frames"] = options.get("frames", checkpoint.frames or FRAMES)
        side = checkpoint.loaded.model.config.vision_config.image_size
        pixels = Pixels.from_settings(checkpoint.settings, (side, side))
        return FrameEmbedder(
            checkpoint.loaded, checkpoint.tokenizer, pixels, settings=checkpoint.settings, **embedder_options
        )
    loaded = load_pretrained(AutoModel, name, slug="clip", device=device, dtype=dtype)
    if not is_dual_encoder(loaded.model):
        kind = type(loaded.model).__name__
        raise HubError(f"{name}: {kind} is not an image-text dual encoder; choose a model of the CLIP or SigLIP type")
    vision = loaded.model.config.vision_config
    pixels = Pixels.of(name, getattr(vision, "image_size", vision.patch_size))
    return FrameEmbedder(loaded, load_tokenizer(name), pixels, **embedder_options)
