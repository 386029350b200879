"""Train dual encoders: the adapters' own models with gradients, saved as folders that the adapters load.

A student encodes clips by index, and texts, and returns their cosines. Its clips come from a callable, so that it does
not depend on files and caches.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import ImageProcessingMixin

from foilworks.core.hub.adapters.clip import FrameEmbedder
from foilworks.core.hub.adapters.tiny_video import TinyEmbedder, save_model
from foilworks.core.hub.adapters.video_text import PeVideo, VideoPrism
from foilworks.core.hub.adapters.xclip import XClip
from foilworks.core.hub.batching.dual_encoders import check_clips
from foilworks.core.hub.catalogue.specs import parse_spec
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, Trust, VideoMeta
from foilworks.core.hub.loading.pretrained import model_source
from foilworks.core.hub.loading.processor_files import VIDEO
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.training.llm_teacher import cosines
from foilworks.core.text.quoting import quoted

ReadClip = Callable[[int], tuple[Frames, VideoMeta]]
PREPROCESSOR = "preprocessor_config.json"
# CLIP does not let its scale multiply similarities by more (Radford et al. 2021, Sec. 2.5).
MAX_SCALE = 100.0


class Student(ABC):
    """Base of all kinds. `adapter` scores with the current weights, also between two steps."""

    # The logarithm of what similarities were multiplied with.
    scale = "logit_scale"
    # Layers that were added to pretrained encoders, by the beginning of their names.
    heads: Sequence[str] = ()

    def __init__(self, adapter: Any, spec: str, read: ReadClip) -> None:
        self.adapter, self.spec = adapter, spec
        self.read: ReadClip | None = read

    @property
    def module(self) -> nn.Module:
        """Return the module whose state is the model's."""
        return self.adapter.model

    @property
    def device(self) -> torch.device:
        return self.adapter.device

    @property
    def own_temperature(self) -> float:
        """Return the temperature that the checkpoint was trained with. HubError: it has none."""
        if self.scale_weight is None:
            raise HubError(f"{quoted(self.spec)} has no logit scale; set contrastive_temperature to a number")
        return float(self.temperature().detach())

    @property
    def scale_weight(self) -> Tensor | None:
        """Return the weight of the logit scale; None without one."""
        return getattr(self.adapter.model, self.scale, None)

    def temperature(self) -> Tensor:
        """Return the inverse of the logit scale, with its gradient."""
        assert self.scale_weight is not None  # own_temperature has refused it
        return torch.exp(-self.scale_weight.float())

    def limit_scale(self) -> None:
        """Reduce the logit scale to its maximum after an update."""
        assert self.scale_weight is not None  # own_temperature has refused it
        with torch.no_grad():
            self.scale_weight.clamp_(max=math.log(MAX_SCALE))

    def save_memory(self) -> None:
        """Compute the activations of the encoders again in the backward pass instead of storing them.

        HubError: the model does not support it.
        """
        try:
            self.adapter.model.activation_checkpointing_enable()
        except (AttributeError, ValueError) as error:
            raise HubError(
                f"{quoted(self.spec)} does not support gradient checkpointing; set checkpointing=false"
            ) from error

    def clips(self, places: NDArray[np.int64]) -> list[Frames]:
        """Return the frames of the clips at these indices. HubError: frames that the model does not accept."""
        assert self.read is not None
        found = [self.read(int(place)) for place in places]
        check_clips([frames for frames, _ in found], [meta for _, meta in found], self.adapter.info)
        return [frames for frames, _ in found]

    @abstractmethod
    def encode_video(self, clips: NDArray[np.int64]) -> Tensor:
        """Encode the clips at (b,) indices as (b, …), one row per clip."""

    @abstractmethod
    def encode_text(self, texts: Sequence[str]) -> Tensor:
        """Encode m texts as (m, d)."""

    def similar(self, videos: Tensor, texts: Tensor) -> Tensor:
        """Return cosines in float32: texts (m, d) of all clips -> (b, m); texts (b, k, d), each clip's own -> (b,
        k)."""
        return cosines(videos, texts)

    @abstractmethod
    def save(self, folder: Path, card: Mapping[str, object]) -> str:
        """Write the model into `folder`; return the spec by which the adapters load it."""


class TinyStudent(Student):
    """The demo's encoders (foilworks.core.hub.adapters.tiny_video)."""

    heads = ("time", "video_out", "text.out")

    def encode_video(self, clips: NDArray[np.int64]) -> Tensor:
        return self.adapter.model.encode_video(torch.from_numpy(np.stack(self.clips(clips))).to(self.device))

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        return self.adapter.model.encode_text(self.adapter.vocabulary.encode(texts).to(self.device))

    def save(self, folder: Path, card: Mapping[str, object]) -> str:
        save_model(folder, self.adapter.model, self.adapter.vocabulary, {**self.adapter.info.card, **card})
        return f"tiny:{folder}"


class FrameStudent(Student):
    """CLIP's kind: each frame independently, then the mean of the frames' vectors (foilworks.core.hub.adapters.clip,
    pooling of features)."""

    def encode_video(self, clips: NDArray[np.int64]) -> Tensor:
        return F.normalize(self.adapter.frame_rows(self.clips(clips)).float(), dim=-1).mean(dim=1)

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        return self.adapter.text_rows(texts)

    def save(self, folder: Path, card: Mapping[str, object]) -> str:
        return f"clip:{_saved(self, folder, self.adapter.settings)}?frames={self.adapter.info.frames}"


class VideoStudent(Student):
    """VideoPrism: all frames of a clip together."""

    def encode_video(self, clips: NDArray[np.int64]) -> Tensor:
        return self.adapter.video_rows(self.clips(clips))

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        return self.adapter.text_rows(texts)

    def save(self, folder: Path, card: Mapping[str, object]) -> str:
        _saved(self, folder, self.adapter.settings, VIDEO)
        return f"video:{folder}?frames={self.adapter.info.frames}"


class PeVideoStudent(VideoStudent):
    """PE-Video: its similarity is the product of vectors that are not normalised."""

    scale = "text_video_logit_scale"

    @property
    def own_temperature(self) -> float:
        """Return the inverse of the scale, which is not stored as a logarithm."""
        scale = float(getattr(self.adapter.model, self.scale).detach())
        if scale <= 0:
            raise HubError(f"{quoted(self.spec)}: its scale is {scale:g}; set contrastive_temperature to a number")
        return 1 / scale

    def temperature(self) -> Tensor:
        """Return the inverse of the scale, which is not stored as a logarithm."""
        return 1 / getattr(self.adapter.model, self.scale).float()

    def limit_scale(self) -> None:
        """Reduce the scale to its maximum after an update."""
        with torch.no_grad():
            getattr(self.adapter.model, self.scale).clamp_(max=MAX_SCALE)

    def similar(self, videos: Tensor, texts: Tensor) -> Tensor:
        """Return products like the base class's cosines."""
        videos, texts = videos.float(), texts.float()
        return videos @ texts.T if texts.ndim == 2 else torch.einsum("bd,bkd->bk", videos, texts)


class XClipStudent(Student):
    """X-CLIP: the text's vector depends on the clip, so prompting is part of the cosine."""

    heads = ("prompts_visual_layernorm", "prompts_visual_projection", "mit", "prompts_generator")

    def encode_video(self, clips: NDArray[np.int64]) -> Tensor:
        return self.adapter.video_rows(self.clips(clips))

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        return self.adapter.text_rows(texts)

    def similar(self, videos: Tensor, texts: Tensor) -> Tensor:
        """Return cosines like the base class; videos are (b, 1 + patches, d)."""
        videos, own = videos.float(), (texts if texts.ndim == 3 else texts[None].expand(len(videos), -1, -1)).float()
        prompt = self.adapter.model.prompts_generator(own, videos[:, 1:])
        return F.cosine_similarity(own + prompt, videos[:, :1], dim=-1)

    def save(self, folder: Path, card: Mapping[str, object]) -> str:
        return f"xclip:{_saved(self, folder)}"


KINDS: Mapping[type, type[Student]] = {
    TinyEmbedder: TinyStudent,
    FrameEmbedder: FrameStudent,
    XClip: XClipStudent,
    VideoPrism: VideoStudent,
    PeVideo: PeVideoStudent,
}


def open_student(spec: str, read: ReadClip, *, device: str = "auto", trust: Trust | None = None) -> Student:
    """Load the student that `spec` names, in float32: rounding of bf16 weights would lose small steps.

    HubError: unknown spec, a model that does not load, or one that is not a trainable dual encoder.
    """
    adapter = open_adapter(spec, device=device, trust=trust)
    kind = KINDS.get(type(adapter))
    if kind is None:
        raise HubError(
            f"{quoted(spec)} cannot be trained; name a dual encoder: clip:NAME, video:NAME, xclip:NAME or tiny:FOLDER"
        )
    if isinstance(adapter, FrameEmbedder) and adapter.pooling != "features":
        raise HubError(f"{quoted(spec)} pools logits, and training takes cosines; leave pooling out")
    return kind(adapter, spec, read)


def _saved(student: Student, folder: Path, settings: Mapping[str, Any] | None = None, name: str = PREPROCESSOR) -> Path:
    """The model, its tokenizer and how its pictures are made, as transformers writes them."""
    if settings is None:
        source, revision = model_source(parse_spec(student.spec)[1].partition("?")[0])
        options: dict[str, Any] = {"revision": revision} if revision else {}
        settings, _ = ImageProcessingMixin.get_image_processor_dict(source, **options)
    student.adapter.model.save_pretrained(folder)
    student.adapter.tokenizer.save_pretrained(folder)
    (folder / name).write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return folder
