"""The families of generative models: how each is shown a clip, and the settings of its published processor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from foilworks.core.hub.batching.video_inputs import (
    SECONDS_PER_PAIR,
    Clip,
    Prepared,
    glm4v,
    internvl,
    llava_next,
    llava_next_video,
    llava_onevision,
    pictures,
    qwen2_vl,
    qwen3_vl,
    smolvlm,
    video_llama_3,
    video_llava,
)
from foilworks.core.media.sampling import CENTRES, Sampling

CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
HALF = (0.5, 0.5, 0.5)
PIXEL_BOUNDS = ("min_pixels", "max_pixels")
LMMS_EVAL = Sampling("first-to-last", 8)


@dataclass(frozen=True)
class Family:
    """How a family of models is shown a clip.

    `defaults`: what the processor's class says if the model's file says nothing. `marks`: what the chat template
    writes for a video, the first that is found. `template`: if the model's files hold none. `media_type`: what the
    template gets, a video, or an image for models that know only images. `by_processor`: the model's own processor
    makes its pictures. `placeholder`: the config's name of the token that marks the clip's places. `type_ids`: the
    forward's name for which tokens are pictures (1), if it asks. `windowed`: its vision tower attends within windows,
    and its layers get the ends of those. `is_generic`: the model's own processor makes all of its inputs. `makers`:
    which frames its makers show; those of lmms-eval if they show no videos.
    """

    prepare: Callable[[Clip], Prepared]
    defaults: Mapping[str, Any]
    marks: tuple[str, ...] = ("<video>",)
    template: str = ""
    media_type: str = "video"
    by_processor: bool = False
    placeholder: str = "video_token_id"
    type_ids: str = ""
    windowed: bool = False
    is_generic: bool = False
    makers: Sampling = LMMS_EVAL


VICUNA = (
    "{% for message in messages %}{% if message.role == 'system' %}{{ message.content[0].text }} {% elif message.role "
    "== 'user' %}USER: {% for part in message.content %}{% if part.type == 'video' %}<video>\n{% else %}{{ part.text }}"
    "{% endif %}{% endfor %}{% else %} ASSISTANT: {{ message.content[0].text }} {% endif %}{% endfor %}"
    "{% if add_generation_prompt %} ASSISTANT:{% endif %}"
)
CLIP_PIXELS = {"image_mean": CLIP_MEAN, "image_std": CLIP_STD, "resample": 3, "do_center_crop": True}
QWEN_PIXELS = {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2, "resample": 3}
SQUARE_224 = {**CLIP_PIXELS, "size": {"shortest_edge": 224}, "crop_size": {"height": 224, "width": 224}}
SQUARE_336 = {**CLIP_PIXELS, "size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}
QWEN2 = {
    **QWEN_PIXELS,
    "image_mean": CLIP_MEAN,
    "image_std": CLIP_STD,
    "size": {"shortest_edge": 128 * 28 * 28, "longest_edge": 28 * 28 * 768},
}
QWEN3_PIXELS = {
    **QWEN_PIXELS,
    "patch_size": 16,
    "image_mean": HALF,
    "image_std": HALF,
    "size": {"shortest_edge": 128 * 32 * 32, "longest_edge": 32 * 32 * 768},
}
GLM_PIXELS = {
    **QWEN_PIXELS,
    "image_mean": CLIP_MEAN,
    "image_std": CLIP_STD,
    "size": {"shortest_edge": 112 * 112, "longest_edge": 28 * 28 * 2 * 30000},
}
SMOLVLM = (
    "<|im_start|>{% for message in messages %}{{ message.role | capitalize }}{% if message.content[0].type == 'image' "
    "%}:{% else %}: {% endif %}{% for part in message.content %}{% if part.type == 'video' %}<video>{% else %}"
    "{{ part.text }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:"
    "{% endif %}"
)
# They write the seconds of the frames into the prompt.
WRITES_SECONDS = frozenset({qwen3_vl, video_llama_3, glm4v, smolvlm})
VISION_MARKS = ("<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>")
STARTS_OF_8 = Sampling("starts", 8)
QWEN_FRAMES = Sampling("qwen", 768, 0.5)
FAMILIES: Mapping[str, Family] = {
    "llava_next_video": Family(llava_next_video, SQUARE_224, template=VICUNA, makers=STARTS_OF_8),
    "video_llava": Family(video_llava, SQUARE_224, template=VICUNA, makers=STARTS_OF_8),
    "llava_onevision": Family(
        llava_onevision,
        {**CLIP_PIXELS, "do_center_crop": False, "size": {"height": 384, "width": 384}},
        makers=STARTS_OF_8,
    ),
    "llava_next": Family(
        llava_next,
        {**SQUARE_336, "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]},
        marks=("<image>",),
        media_type="image",
        placeholder="image_token_id",
    ),
    "internvl": Family(
        internvl,
        {**CLIP_PIXELS, "do_center_crop": False, "size": {"height": 384, "width": 384}},
        placeholder="image_token_id",
        makers=Sampling(CENTRES, 8),
    ),
    "qwen2_vl": Family(qwen2_vl, QWEN2, marks=VISION_MARKS[1:], windowed=True, makers=QWEN_FRAMES),
    "qwen2_5_vl": Family(qwen2_vl, QWEN2, marks=VISION_MARKS[1:], windowed=True, makers=QWEN_FRAMES),
    "qwen2_5_omni_thinker": Family(qwen2_vl, QWEN2, marks=("<|VIDEO|>",), windowed=True, makers=QWEN_FRAMES),
    "qwen3_omni_moe_thinker": Family(
        qwen2_vl,
        QWEN3_PIXELS,
        marks=VISION_MARKS[1:],
        windowed=True,
        makers=QWEN_FRAMES,
    ),
    **dict.fromkeys(
        ("qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"),
        Family(qwen3_vl, QWEN3_PIXELS, marks=VISION_MARKS, windowed=True, makers=QWEN_FRAMES),
    ),
    **{
        name: Family(
            glm4v, GLM_PIXELS, marks=("<|video|>",), placeholder="image_token_id", windowed=True, makers=Sampling(*rule)
        )
        for name, rule in {
            "glm4v": ("glm4v", 600, 0.5),
            "glm4v_moe": ("glm4v", 600, 0.5),
            "glm46v": ("glm46v", 640),
        }.items()
    },
    "smolvlm": Family(
        smolvlm,
        {
            "image_mean": HALF,
            "image_std": HALF,
            "resample": 1,
            "size": {"longest_edge": 4 * 364},
            "max_image_size": {"longest_edge": 364},
        },
        template=SMOLVLM,
        placeholder="image_token_id",
        makers=Sampling("smolvlm", 64, 1.0),
    ),
    **dict.fromkeys(
        ("llava", "idefics3", "aya_vision"),
        Family(pictures, {}, marks=(), media_type="image", by_processor=True, placeholder="image_token_id"),
    ),
    "gemma3": Family(
        pictures,
        {},
        marks=(),
        media_type="image",
        by_processor=True,
        placeholder="image_token_id",
        type_ids="token_type_ids",
    ),
    "video_llama_3": Family(
        video_llama_3,
        {
            **QWEN_PIXELS,
            "temporal_patch_size": 1,
            "image_mean": HALF,
            "image_std": HALF,
            "use_token_compression": True,
            "size": {"shortest_edge": 128 * 28 * 28, "longest_edge": 28 * 28 * 768},
        },
        marks=VISION_MARKS,
        windowed=True,
        makers=Sampling("video-llama-3", 180, 1.0),
    ),
}


def reads_times(model_type: str, family: Family) -> bool:
    """Return whether the inputs of the family's models depend on when the frames are shown."""
    return family.is_generic or model_type in SECONDS_PER_PAIR or family.prepare in WRITES_SECONDS


def settings_of(model_type: str, file_settings: Mapping[str, Any], max_pixels: int | None = None) -> dict[str, Any]:
    """Merge the family's defaults with the model's own file; older files name the bounds `min_pixels` and
    `max_pixels`. Those of Qwen-Omni hold for pictures: its processor has bounds of its own for videos."""
    if model_type.endswith("_thinker"):
        file_settings = {name: value for name, value in file_settings.items() if name not in PIXEL_BOUNDS}
    settings = {
        **FAMILIES[model_type].defaults,
        **{name: value for name, value in file_settings.items() if value is not None},
    }
    size = settings.get("size")
    if not isinstance(size, Mapping) or not {"shortest_edge", "longest_edge"} <= size.keys():
        return settings
    min_size = file_settings.get("min_pixels") or size["shortest_edge"]
    max_size = max_pixels or file_settings.get("max_pixels") or size["longest_edge"]
    return {
        **settings,
        "size": {"shortest_edge": min(min_size, max_size) if max_pixels else min_size, "longest_edge": max_size},
    }
