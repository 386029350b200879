"""Image-text encoders of the CLIP type by AutoModel (CLIP, SigLIP, SigLIP 2, MetaCLIP 2): a clip is its frames.

The vectors of single frames are kept, so that every way to sum them up comes from one pass: the mean of features (the
default, then normalised), the mean of logits, and ViLMA's mean of softmaxes (`softmax_mean`). Similarity is float32.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from hub._pixels import Pixels
from hub._pretrained import Pretrained, distinct, load_pretrained, load_tokenizer, longest_input, split_options
from hub.errors import HubError
from hub.interfaces import Frames, ModelInfo, ScoreKind, VideoMeta

FRAMES = 8
IMAGES_A_BATCH = 64
TEXTS_A_BATCH = 128
POOLINGS = ("features", "logits")


class FrameEmbedder:
    """The Embedder of a loaded model. Video rows are (frames, d), each of length one; text rows (d,) of length one."""

    def __init__(self, loaded: Pretrained, tokenizer: Any, pixels: Pixels, *, frames: int, pooling: str) -> None:
        self.model, self.tokenizer, self.device, self.pixels = loaded.model, tokenizer, loaded.device, pixels
        self.pooling = pooling
        text = getattr(loaded.model.config, "text_config", loaded.model.config)
        self._longest = min(longest_input(tokenizer, loaded.model.config), text.max_position_embeddings)
        # SigLIP was trained on texts padded to full length, and has no mask; CLIP masks its padding.
        self._full_length = "siglip" in loaded.model.config.model_type
        self._dtype = next(loaded.model.parameters()).dtype
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision} frames={frames} pooling={pooling}",
            ScoreKind.COSINE if pooling == "features" else ScoreKind.LOGIT,
            frames=frames,
            card={"category": "image-text"},
        )

    @torch.inference_mode()
    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """n clips of k frames, each of its own height and width -> (n, k, d)."""
        for clip, about in zip(clips, meta, strict=True):
            wanted = clip.ndim == 4 and clip.shape[0] == self.info.frames and clip.shape[3] == 3
            if not wanted or clip.dtype != np.uint8:
                raise HubError(
                    f"clip '{about.key}': {self.info.model_id} takes uint8 ({self.info.frames}, height, width, 3), "
                    f"not {clip.dtype} {clip.shape}; sample it to its frames"
                )
        images = torch.cat([self.pixels(clip, self.device) for clip in clips])
        rows = [
            self.model.get_image_features(pixel_values=images[at : at + IMAGES_A_BATCH].to(self._dtype)).pooler_output
            for at in range(0, len(images), IMAGES_A_BATCH)
        ]
        return _normal(torch.cat(rows)).reshape(len(clips), self.info.frames, -1)

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """m texts -> (m, d); longer texts are cut to what the model takes."""
        once, place = distinct(texts)
        rows = [self._texts(once[at : at + TEXTS_A_BATCH]) for at in range(0, len(once), TEXTS_A_BATCH)]
        return np.concatenate(rows)[place] if rows else np.zeros((0, 1), np.float32)

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, k, d), (m, d) -> (n, m): the cosine with the mean feature, or the mean of the frames' logits."""
        if self.pooling == "logits":
            return self.frame_logits(videos, texts).mean(1)
        mean = videos.astype(np.float32, copy=False).mean(1)
        return mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12) @ texts.T

    def frame_logits(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, k, m): each frame's cosine times the model's own scale, plus its bias where it has one."""
        scale = float(self.model.logit_scale.detach().float().exp())
        bias = getattr(self.model, "logit_bias", None)
        shift = 0.0 if bias is None else float(bias.detach().float())
        return (videos @ texts.T * np.float32(scale) + np.float32(shift)).astype(np.float32)

    def _texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        padding = "max_length" if self._full_length else True
        found = self.tokenizer(
            list(texts), padding=padding, truncation=True, max_length=self._longest, return_tensors="pt"
        ).to(self.device)  # fmt: skip
        given = {"input_ids": found["input_ids"]}
        if not self._full_length:
            given["attention_mask"] = found["attention_mask"]
        return _normal(self.model.get_text_features(**given).pooler_output)


def softmax_mean(frame_logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """ViLMA's score of a caption among its foils: (n, k, m) -> (n, m), softmax over texts a frame, averaged."""
    powers = np.exp(frame_logits - frame_logits.max(axis=2, keepdims=True))
    return (powers / powers.sum(axis=2, keepdims=True)).mean(1)


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> FrameEmbedder:
    """`HUB_ID_OR_FOLDER[?frames=8&pooling=features|logits]`. HubError: it does not load, or is no dual encoder."""
    name, options = split_options(argument, {"frames": int, "pooling": str})
    pooling = options.get("pooling", "features")
    if pooling not in POOLINGS:
        raise HubError(f"'{argument}': pooling is '{pooling}'; choose one of: {', '.join(POOLINGS)}")
    loaded = load_pretrained(AutoModel, name, slug="clip", device=device, dtype=dtype)
    needed = ("get_image_features", "get_text_features", "logit_scale")
    if not all(hasattr(loaded.model, part) for part in needed) or hasattr(loaded.model, "prompts_generator"):
        kind = type(loaded.model).__name__
        raise HubError(f"{name}: {kind} is no image-text dual encoder; choose a model of the CLIP or SigLIP type")
    pixels = Pixels.of(name, loaded.model.config.vision_config.image_size)
    return FrameEmbedder(
        loaded, load_tokenizer(name), pixels, frames=options.get("frames", FRAMES), pooling=pooling
    )  # fmt: skip


def _normal(rows: torch.Tensor) -> NDArray[np.float32]:
    return torch.nn.functional.normalize(rows.float(), dim=1).cpu().numpy()
