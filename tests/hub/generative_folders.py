"""Tiny generative video models with random weights, each family as its published folders are laid out."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    CLIPVisionConfig,
    Glm4vConfig,
    Glm4vForConditionalGeneration,
    Glm4vMoeConfig,
    Glm4vMoeForConditionalGeneration,
    Glm46VConfig,
    Glm46VForConditionalGeneration,
    InternVLConfig,
    InternVLForConditionalGeneration,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaNextConfig,
    LlavaNextForConditionalGeneration,
    LlavaNextVideoConfig,
    LlavaNextVideoForConditionalGeneration,
    LlavaOnevisionConfig,
    LlavaOnevisionForConditionalGeneration,
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5OmniConfig,
    Qwen2_5OmniThinkerConfig,
    Qwen2_5OmniThinkerForConditionalGeneration,
    Qwen2Config,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen3_5Config,
    Qwen3_5ForConditionalGeneration,
    Qwen3_5MoeConfig,
    Qwen3_5MoeForConditionalGeneration,
    Qwen3OmniMoeConfig,
    Qwen3OmniMoeThinkerConfig,
    Qwen3OmniMoeThinkerForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLMoeConfig,
    Qwen3VLMoeForConditionalGeneration,
    SiglipVisionConfig,
    SmolVLMConfig,
    SmolVLMForConditionalGeneration,
    VideoLlama3Config,
    VideoLlama3ForConditionalGeneration,
    VideoLlavaConfig,
    VideoLlavaForConditionalGeneration,
)

from tests.hub.folders import byte_tokenizer, saved

MARKS = (
    "<video>",
    "<image>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|video_pad|>",
    "<|image_pad|>",
    "<img>",
    "</img>",
    "<IMG_CONTEXT>",
    "<|im_start|>",
    "<|im_end|>",
)
GLM_MARKS = (
    "<|video|>",
    "<|image|>",
    "<|begin_of_image|>",
    "<|end_of_image|>",
    "<|begin_of_video|>",
    "<|end_of_video|>",
)
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{% for part in message.content %}{% if part.type == "
    "'video' %}VIDEO{% else %}{{ part.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Wide random weights, so that texts and clips differ in what they get.
WIDE = 0.2
TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "initializer_range": WIDE,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "pad_token_id": 1,
}
VISION = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 4,
    "initializer_range": WIDE,
}
HALF = [0.5, 0.5, 0.5]
VIDEOS, IMAGES = "video_preprocessor_config.json", "preprocessor_config.json"
PICTURE = {"image_mean": HALF, "image_std": HALF, "resample": 3}
SQUARE = {**PICTURE, "size": {"height": 16, "width": 16}}
CROPPED = {
    **PICTURE,
    "size": {"shortest_edge": 16},
    "do_center_crop": True,
    "crop_size": {"height": 16, "width": 16},
}
PATCHED = {
    **PICTURE,
    "patch_size": 4,
    "merge_size": 2,
    "temporal_patch_size": 2,
    "size": {"shortest_edge": 16 * 16, "longest_edge": 24 * 24},
}


INTERLEAVED = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0, "mrope_interleaved": True}
# Features of the first layer also enter the language model's first layer.
DEEPSTACK = {
    "depth": 2,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_heads": 2,
    "patch_size": 4,
    "out_hidden_size": 32,
    "deepstack_visual_indexes": [0],
    "num_position_embeddings": 16,
    "initializer_range": WIDE,
}
QWEN3_5_VISION = {name: value for name, value in DEEPSTACK.items() if name != "deepstack_visual_indexes"}
WHOLE_VIDEO = {**PATCHED, "size": {"shortest_edge": 16 * 16, "longest_edge": 4 * 24 * 24}}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
# A layer with a state of fixed size, then one with keys and values.
LINEAR = {
    "layer_types": ["linear_attention", "full_attention"],
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}


def talkative(more: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """The tokenizer with `more` special tokens, and the same random numbers for the model that is made next."""
    torch.manual_seed(7)
    tokenizer = byte_tokenizer(longest=4096)
    tokenizer.add_special_tokens({"additional_special_tokens": [*MARKS, *more]})
    return tokenizer


def _text(tokenizer: PreTrainedTokenizerFast, **more: Any) -> dict[str, Any]:
    return {**TEXT, "vocab_size": len(tokenizer), **more}


def _ids(tokenizer: PreTrainedTokenizerFast, video: str, image: str) -> dict[str, int]:
    found = tokenizer.convert_tokens_to_ids([video, image])
    return {"video_token_id": found[0], "image_token_id": found[1]}


def _indices(tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    found = tokenizer.convert_tokens_to_ids(["<video>", "<image>"])
    return {"video_token_index": found[0], "image_token_index": found[1]}


def _vision_ends(tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    ends = tokenizer.convert_tokens_to_ids(["<|vision_start|>", "<|vision_end|>"])
    return {"vision_start_token_id": ends[0], "vision_end_token_id": ends[1]}


def _video_ids(tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    return {**_ids(tokenizer, "<|video_pad|>", "<|image_pad|>"), **_vision_ends(tokenizer)}


def llava_next(folder: Path) -> Path:
    tokenizer = talkative()
    config = LlavaNextConfig(
        vision_config=CLIPVisionConfig(**VISION),
        text_config=LlamaConfig(**_text(tokenizer)),
        image_grid_pinpoints=[[16, 32], [32, 16], [32, 32]],
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )
    tiles = {**CROPPED, "image_grid_pinpoints": [[16, 32], [32, 16], [32, 32]]}
    return _folder(folder, LlavaNextForConditionalGeneration(config), tokenizer, tiles, "<image>\n", IMAGES)


def llava_next_video(folder: Path) -> Path:
    tokenizer = talkative()
    config = LlavaNextVideoConfig(
        vision_config=CLIPVisionConfig(**VISION),
        text_config=LlamaConfig(**_text(tokenizer)),
        spatial_pool_stride=2,
        image_grid_pinpoints=[[16, 16]],
        **_indices(tokenizer),
    )
    return _folder(folder, LlavaNextVideoForConditionalGeneration(config), tokenizer, CROPPED, "")


def video_llava(folder: Path) -> Path:
    tokenizer = talkative()
    config = VideoLlavaConfig(
        vision_config=CLIPVisionConfig(**VISION), text_config=LlamaConfig(**_text(tokenizer)), **_indices(tokenizer)
    )
    return _folder(folder, VideoLlavaForConditionalGeneration(config), tokenizer, CROPPED, "")


def llava_onevision(folder: Path) -> Path:
    tokenizer = talkative()
    config = LlavaOnevisionConfig(
        vision_config=SiglipVisionConfig(**{**VISION, "vision_use_head": False}),
        text_config=Qwen2Config(**_text(tokenizer)),
        image_grid_pinpoints=[[16, 16]],
        **_indices(tokenizer),
    )
    return _folder(folder, LlavaOnevisionForConditionalGeneration(config), tokenizer, SQUARE, "<video>\n")


def internvl(folder: Path) -> Path:
    tokenizer = talkative()
    vision = {**VISION, "image_size": [16, 16], "patch_size": [4, 4], "use_mean_pooling": True}
    config = InternVLConfig(
        vision_config=vision,
        text_config=Qwen2Config(**_text(tokenizer)),
        image_seq_length=4,
        downsample_ratio=0.5,
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
    )
    return _folder(folder, InternVLForConditionalGeneration(config), tokenizer, SQUARE, "<video>\n")


def qwen2_vl(folder: Path) -> Path:
    tokenizer = talkative()
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0}
    vision = {"depth": 2, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "patch_size": 4, "mlp_ratio": 2}
    config = Qwen2VLConfig(
        vision_config=vision,
        text_config=_text(tokenizer, rope_parameters=rope),
        **_ids(tokenizer, "<|video_pad|>", "<|image_pad|>"),
        **_vision_ends(tokenizer),
    )
    return _folder(folder, Qwen2VLForConditionalGeneration(config), tokenizer, PATCHED, _PAD)


def qwen2_5_vl(folder: Path) -> Path:
    tokenizer = talkative()
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0}
    vision = {
        "depth": 2,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_heads": 2,
        "patch_size": 4,
        "out_hidden_size": 32,
        "window_size": 16,
        "fullatt_block_indexes": [1],
        "tokens_per_second": 2,
    }
    config = Qwen2_5_VLConfig(
        vision_config=vision,
        text_config=_text(tokenizer, rope_parameters=rope),
        **_ids(tokenizer, "<|video_pad|>", "<|image_pad|>"),
        **_vision_ends(tokenizer),
    )
    return _folder(folder, Qwen2_5_VLForConditionalGeneration(config), tokenizer, PATCHED, _PAD)


def qwen2_5_omni_thinker(folder: Path) -> Path:
    """As published: the thinker's weights by their prefix, beside those of the voice."""
    tokenizer = talkative(("<|VIDEO|>", "<|IMAGE|>", "<|AUDIO|>", "<|vision_bos|>", "<|vision_eos|>"))
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0}
    vision = {
        "depth": 2,
        "embed_dim": 16,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_heads": 2,
        "patch_size": 4,
        "out_hidden_size": 32,
        "window_size": 16,
        "fullatt_block_indexes": [1],
    }
    audio = {"d_model": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 16, "output_dim": 32}
    marks = ("<|VIDEO|>", "<|IMAGE|>", "<|AUDIO|>", "<|vision_bos|>", "<|vision_eos|>")
    names = ("video_token_index", "image_token_index", "audio_token_index", "vision_start_token_id")
    thinker = Qwen2_5OmniThinkerConfig(
        vision_config=vision,
        audio_config=audio,
        text_config=_text(tokenizer, rope_parameters=rope),
        **dict(zip(names, tokenizer.convert_tokens_to_ids(list(marks[:4])), strict=True)),
        vision_end_token_id=tokenizer.convert_tokens_to_ids(marks[4]),
    )
    model = Qwen2_5OmniThinkerForConditionalGeneration(thinker)
    _folder(folder, model, tokenizer, PATCHED, "<|vision_bos|><|VIDEO|><|vision_eos|>")
    return _with_voice(folder, Qwen2_5OmniConfig(thinker_config=thinker.to_dict()))


def qwen3_omni_moe_thinker(folder: Path) -> Path:
    """As published, with the voice."""
    tokenizer = talkative(("<|audio_pad|>",))
    audio = {
        "d_model": 16,
        "encoder_layers": 1,
        "encoder_attention_heads": 2,
        "encoder_ffn_dim": 16,
        "output_dim": 32,
        "downsample_hidden_size": 8,
    }
    thinker = Qwen3OmniMoeThinkerConfig(
        vision_config=DEEPSTACK,
        audio_config=audio,
        text_config=_text(tokenizer, rope_parameters=INTERLEAVED, head_dim=8, **EXPERTS),
        audio_token_id=tokenizer.convert_tokens_to_ids("<|audio_pad|>"),
        **_video_ids(tokenizer),
    )
    _folder(folder, Qwen3OmniMoeThinkerForConditionalGeneration(thinker), tokenizer, PATCHED, _PAD)
    return _with_voice(folder, Qwen3OmniMoeConfig(thinker_config=thinker.to_dict()))


def _with_voice(folder: Path, config: Any) -> Path:
    """The saved thinker in the layout of the whole model: its weights by a prefix, others beside them."""
    weights = {f"thinker.{name}": value for name, value in load_file(folder / "model.safetensors").items()}
    voice = {f"{name}.head.weight": torch.zeros(2) for name in ("talker", "code2wav")}
    save_file({**weights, **voice}, folder / "model.safetensors", {"format": "pt"})
    config.save_pretrained(folder)
    return folder


def qwen3_vl(folder: Path) -> Path:
    tokenizer = talkative()
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0, "mrope_interleaved": True}
    vision = {
        "depth": 2,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_heads": 2,
        "patch_size": 4,
        "out_hidden_size": 32,
        "deepstack_visual_indexes": [0],
        "num_position_embeddings": 16,
        "initializer_range": WIDE,
    }
    config = Qwen3VLConfig(
        vision_config=vision,
        text_config=_text(tokenizer, rope_parameters=rope, head_dim=8),
        **_ids(tokenizer, "<|video_pad|>", "<|image_pad|>"),
        **_vision_ends(tokenizer),
    )
    sizes = {**PATCHED, "size": {"shortest_edge": 16 * 16, "longest_edge": 4 * 24 * 24}}
    return _folder(folder, Qwen3VLForConditionalGeneration(config), tokenizer, sizes, _PAD)


def qwen3_vl_moe(folder: Path) -> Path:
    tokenizer = talkative()
    text = _text(tokenizer, rope_parameters=INTERLEAVED, head_dim=8, **EXPERTS)
    config = Qwen3VLMoeConfig(vision_config=DEEPSTACK, text_config=text, **_video_ids(tokenizer))
    return _folder(folder, Qwen3VLMoeForConditionalGeneration(config), tokenizer, WHOLE_VIDEO, _PAD)


def qwen3_5(folder: Path) -> Path:
    tokenizer = talkative()
    rope = {**INTERLEAVED, "partial_rotary_factor": 1.0}
    text = _text(tokenizer, rope_parameters=rope, head_dim=8, **LINEAR)
    config = Qwen3_5Config(vision_config=QWEN3_5_VISION, text_config=text, **_video_ids(tokenizer))
    return _folder(folder, Qwen3_5ForConditionalGeneration(config), tokenizer, WHOLE_VIDEO, _PAD)


def qwen3_5_moe(folder: Path) -> Path:
    tokenizer = talkative()
    rope = {**INTERLEAVED, "partial_rotary_factor": 1.0}
    text = _text(tokenizer, rope_parameters=rope, head_dim=8, **LINEAR, **EXPERTS, shared_expert_intermediate_size=16)
    config = Qwen3_5MoeConfig(vision_config=QWEN3_5_VISION, text_config=text, **_video_ids(tokenizer))
    return _folder(folder, Qwen3_5MoeForConditionalGeneration(config), tokenizer, WHOLE_VIDEO, _PAD)


def glm4v(folder: Path) -> Path:
    return _glm(folder, Glm4vConfig, Glm4vForConditionalGeneration)


def glm46v(folder: Path) -> Path:
    return _glm(folder, Glm46VConfig, Glm46VForConditionalGeneration)


def glm4v_moe(folder: Path) -> Path:
    experts = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "first_k_dense_replace": 1}
    return _glm(folder, Glm4vMoeConfig, Glm4vMoeForConditionalGeneration, **experts, head_dim=8, n_shared_experts=1)


def _glm(folder: Path, config_class: Any, model_class: Any, **text: Any) -> Path:
    tokenizer = talkative(GLM_MARKS)
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0, "partial_rotary_factor": 1.0}
    vision = {
        "depth": 2,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_heads": 2,
        "patch_size": 4,
        "image_size": 16,
        "out_hidden_size": 32,
        "initializer_range": WIDE,
    }
    ends = ("<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>")
    names = ("image_start_token_id", "image_end_token_id", "video_start_token_id", "video_end_token_id")
    config = config_class(
        vision_config=vision,
        text_config=_text(tokenizer, rope_parameters=rope, **text),
        **_ids(tokenizer, "<|video|>", "<|image|>"),
        **dict(zip(names, tokenizer.convert_tokens_to_ids(list(ends)), strict=True)),
    )
    return _folder(folder, model_class(config), tokenizer, WHOLE_VIDEO, "<|begin_of_video|><|video|><|end_of_video|>")


def smolvlm(folder: Path) -> Path:
    tokenizer = talkative(("<fake_token_around_image>", "<global-img>"))
    config = SmolVLMConfig(
        vision_config=VISION,
        text_config=LlamaConfig(**_text(tokenizer)),
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    sizes = {**PICTURE, "resample": 1, "size": {"longest_edge": 32}, "max_image_size": {"longest_edge": 16}}
    return _folder(folder, SmolVLMForConditionalGeneration(config), tokenizer, sizes, "<video>", IMAGES)


def video_llama_3(folder: Path) -> Path:
    tokenizer = talkative()
    vision = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "patch_size": 4,
        "initializer_range": WIDE,
    }
    config = VideoLlama3Config(
        vision_config=vision,
        text_config=Qwen2Config(**_text(tokenizer)),
        **_ids(tokenizer, "<|video_pad|>", "<|image_pad|>"),
    )
    sizes = {**PATCHED, "temporal_patch_size": 1, "size": {"shortest_edge": 16 * 16, "longest_edge": 4 * 24 * 24}}
    return _folder(folder, VideoLlama3ForConditionalGeneration(config), tokenizer, sizes, _PAD)


_PAD = "<|vision_start|><|video_pad|><|vision_end|>"
FAMILIES: dict[str, Callable[[Path], Path]] = {
    "llava_next": llava_next,
    "llava_next_video": llava_next_video,
    "video_llava": video_llava,
    "llava_onevision": llava_onevision,
    "internvl": internvl,
    "qwen2_vl": qwen2_vl,
    "qwen2_5_vl": qwen2_5_vl,
    "qwen2_5_omni_thinker": qwen2_5_omni_thinker,
    "qwen3_omni_moe_thinker": qwen3_omni_moe_thinker,
    "qwen3_vl": qwen3_vl,
    "qwen3_vl_moe": qwen3_vl_moe,
    "qwen3_5": qwen3_5,
    "qwen3_5_moe": qwen3_5_moe,
    "glm4v": glm4v,
    "glm4v_moe": glm4v_moe,
    "glm46v": glm46v,
    "smolvlm": smolvlm,
    "video_llama_3": video_llama_3,
}


def with_weights(model: torch.nn.Module, std: float) -> None:
    """Give every matrix random weights."""
    for weights in model.parameters():
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=std)


def _folder(
    folder: Path, model: torch.nn.Module, tokenizer: Any, processor: dict[str, Any], video: str, file: str = VIDEOS
) -> Path:
    """`video`: what the chat template writes for one; without it the folder has none, as old ones have not."""
    with_weights(model, WIDE)
    saved(folder, model, tokenizer)
    (folder / file).write_text(json.dumps(processor))
    if video:
        template = TEMPLATE if "<video>" in video or file == VIDEOS else TEMPLATE.replace("'video'", "'image'")
        (folder / "chat_template.jinja").write_text(template.replace("VIDEO", video))
    return folder


def saved_text_model(folder: Path) -> Path:
    """A model of text alone, which no video goes into."""
    tokenizer = talkative()
    return saved(folder, LlamaForCausalLM(LlamaConfig(**_text(tokenizer))), tokenizer)
