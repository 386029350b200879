"""Families of models that transformers publishes, and what the adapters do with them. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Support(StrEnum):
    """Whether models of a family can be scored."""

    TESTED = "tested"
    OPENS = "untested"
    ABSENT = "absent"


@dataclass(frozen=True)
class DualEncoder:
    """A family of dual encoders or matching heads: the adapter that opens it, or why none does (`note`)."""

    adapter: str
    support: Support
    note: str = ""


BY_FRAMES = "frame by frame"
DUAL_ENCODERS: Mapping[str, DualEncoder] = {
    "clip": DualEncoder("clip", Support.TESTED, BY_FRAMES),
    "siglip": DualEncoder("clip", Support.TESTED, BY_FRAMES),
    "siglip2": DualEncoder("clip", Support.TESTED, "frame by frame, in the frames' own shape"),
    "metaclip_2": DualEncoder("clip", Support.TESTED, BY_FRAMES),
    "altclip": DualEncoder("clip", Support.TESTED, BY_FRAMES),
    "chinese_clip": DualEncoder("clip", Support.TESTED, BY_FRAMES),
    "clipseg": DualEncoder("clip", Support.TESTED, BY_FRAMES),
    "groupvit": DualEncoder("clip", Support.OPENS, BY_FRAMES),
    "blip": DualEncoder("clip", Support.OPENS, "frame by frame, by its contrastive heads"),
    "blip-2": DualEncoder("blip2", Support.TESTED, "frame by frame, by its matching head"),
    "xclip": DualEncoder("xclip", Support.TESTED, "as many frames as the model was built for"),
    "videoprism": DualEncoder("video", Support.TESTED, "all frames together"),
    "pe_video": DualEncoder("video", Support.TESTED, "all frames together; needs timm, and so torchvision"),
    "pe_audio_video": DualEncoder("", Support.ABSENT, "takes sound"),
    "align": DualEncoder("", Support.ABSENT, "has no logit scale"),
    "tipsv2": DualEncoder("", Support.ABSENT, "has no logit scale"),
}
# Models that also hear or speak: AutoModelForMultimodalLM opens them, AutoModelForImageTextToText at most a part.
OMNI = ("qwen2_5_omni", "qwen3_omni_moe", "phi4_multimodal")
