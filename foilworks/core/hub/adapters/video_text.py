"""Score with video-text dual encoders that take the frames of a clip together (VideoPrism, PE-Video, by AutoModel)."""

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from foilworks.core.hub.batching.dual_encoders import Tokens, check_clips, encoded, plain, unit
from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.catalogue.options import split_options
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, TextRead, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, load_pretrained, load_tokenizer
from foilworks.core.hub.loading.processor_files import video_settings
from foilworks.core.text.quoting import quoted

FRAMES = 16
CLIPS_PER_BATCH = 4
SPACES = str.maketrans(dict.fromkeys(string.punctuation, " "))


def canonical(text: str) -> str:
    """Spell a text as VideoPrism's authors do before tokenizing (`tokenize_texts`): "Hello, World!" is "hello
    world."."""
    return " ".join(text.translate(SPACES).lower().split()) + "."


class VideoPrism:
    """The Embedder of a loaded VideoPrism: rows of length one, whose product is the cosine."""

    defaults = {"size": {"height": 288, "width": 288}, "do_normalize": False, "resample": 3}

    def __init__(self, loaded: Pretrained, tokenizer: Any, settings: dict[str, Any], frames: int) -> None:
        self.model, self.tokenizer, self.device = loaded.model, tokenizer, loaded.device
        self.settings, self.pixels = settings, Pixels.from_settings(settings, (224, 224))
        # Trained on texts padded to full length.
        self._tokens = Tokens(tokenizer, loaded.model.config, full_length=True, device=loaded.device)
        self._dtype = next(loaded.model.parameters()).dtype
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision} frames={frames} texts=canonical",
            ScoreKind.COSINE,
            frames=frames,
            card={"category": "video"},
        )

    @torch.inference_mode()
    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> NDArray[np.float32]:
        """Encode n clips as (n, d)."""
        check_clips(clips, meta, self.info)
        return np.concatenate([self._plain(self.video_rows(batch)) for batch in _parts(clips)])

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as (m, d)."""
        spelt = [self._spelt(text) for text in texts]
        return encoded(spelt, self._tokens, lambda batch: self._plain(self._texts(self._tokens(batch))))

    def video_rows(self, clips: Sequence[Frames]) -> torch.Tensor:
        """Return n clips as (n, d) in the model's own scale, in one forward pass, with gradients if they are
        enabled."""
        return self._videos(torch.stack([self.pixels(clip, self.device) for clip in clips]).to(self._dtype))

    def text_rows(self, texts: Sequence[str]) -> torch.Tensor:
        """Return m texts as (m, d) in the model's own scale, with gradients if they are enabled."""
        return self._texts(self._tokens([self._spelt(text) for text in texts]))

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return self._tokens.at_limit(texts, self._spelt)

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        return videos.astype(np.float32, copy=False) @ texts.astype(np.float32, copy=False).T

    def _spelt(self, text: str) -> str:
        return canonical(text)

    def _videos(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.model.get_video_features(pixel_values_videos=pixels).pooler_output.reshape(len(pixels), -1)

    def _texts(self, tokens: Any) -> torch.Tensor:
        inputs = {"input_ids": tokens["input_ids"], "attention_mask": tokens["attention_mask"]}
        return self.model.get_text_features(**inputs).pooler_output

    def _plain(self, rows: torch.Tensor) -> NDArray[np.float32]:
        return unit(rows)


class PeVideo(VideoPrism):
    """The Embedder of PE-Video: the video encoder's own head, and the text tower's first token; the score is the
    model's logit."""

    defaults = {"size": {"height": 336, "width": 336}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 2}

    def __init__(self, loaded: Pretrained, tokenizer: Any, settings: dict[str, Any], frames: int) -> None:
        super().__init__(loaded, tokenizer, settings, frames)
        self._tokens.full_length = False
        self.info = ModelInfo(
            loaded.name,
            f"{loaded.revision} frames={frames}{self._tokens.mark}",
            ScoreKind.LOGIT,
            frames=frames,
            card={"category": "video"},
        )

    def score(self, videos: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
        scale, bias = (
            np.float32(float(parameter.detach()))
            for parameter in (self.model.text_video_logit_scale, self.model.text_video_logit_bias)
        )
        return (super().score(videos, texts) * scale + bias).astype(np.float32)

    def _spelt(self, text: str) -> str:
        return text

    def _videos(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.model.video_head(self.model.video_encoder(pixel_values_videos=pixels).pooler_output)

    def _texts(self, tokens: Any) -> torch.Tensor:
        inputs = {"input_ids": tokens["input_ids"], "attention_mask": tokens["attention_mask"]}
        hidden = self.model.text_model(**inputs, output_hidden_states=True).hidden_states[-1]
        return self.model.text_video_head(hidden[:, 0])

    def _plain(self, rows: torch.Tensor) -> NDArray[np.float32]:
        return plain(rows)


KINDS = {"videoprism": VideoPrism, "pe_video": PeVideo}


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> VideoPrism:
    """Load `HUB_ID_OR_FOLDER[?frames=16]`. HubError: it does not load, is of another kind, or takes other frames."""
    name, options = split_options(argument, {"frames": int})
    loaded = load_pretrained(AutoModel, name, slug="video", device=device, dtype=dtype)
    kind = KINDS.get(loaded.model.config.model_type)
    if kind is None:
        raise HubError(
            f"{name}: model type {quoted(loaded.model.config.model_type)} is not supported by 'video:'; choose one of: "
            f"{', '.join(KINDS)}"
        )
    vision = getattr(loaded.model.config, "vision_config", None)
    frames = options.get("frames", getattr(vision, "num_frames", FRAMES))
    settings = {**kind.defaults, **{key: value for key, value in video_settings(name).items() if value is not None}}
    return kind(loaded, load_tokenizer(name), settings, frames)


def _parts(clips: Sequence[Frames]) -> list[Sequence[Frames]]:
    return [clips[at : at + CLIPS_PER_BATCH] for at in range(0, len(clips), CLIPS_PER_BATCH)]
