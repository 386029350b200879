"""Tiny models of families without an adapter: transformers' own configuration and processor, with small numbers.

Every configuration begins as its family's default, and keeps what makes the family: its layers, attention, experts and
processor. Only sizes are small, and the ids of tokens fit the tokenizer.
"""

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING, PreTrainedConfig
from transformers.image_utils import SizeDict
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

from foilworks.core.hub.batching.own_processor import auto_class_of
from foilworks.core.hub.loading.processor_files import pictures_only
from tests.hub.folders import saved
from tests.hub.generative_folders import TEMPLATE, WIDE, talkative, with_weights

HIDDEN, INNER, SIDE, PATCH = 32, 48, 32, 8
# A size by the name of its field, in every part of a configuration.
SIZES: Mapping[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "embed_dim", "out_hidden_size", "projection_dim"), HIDDEN),
    **dict.fromkeys(("adapter_in_dim", "adapter_out_dim"), HIDDEN),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff"), INNER),
    **dict.fromkeys(
        ("num_hidden_layers", "num_layers", "depth", "encoder_layers", "decoder_layers", "num_decoder_layers"), 2
    ),
    **dict.fromkeys(
        ("num_attention_heads", "num_heads", "n_head", "encoder_attention_heads", "decoder_attention_heads"), 4
    ),
    **dict.fromkeys(("num_key_value_heads",), 2),
    **dict.fromkeys(("head_dim", "global_head_dim", "v_head_dim", "qk_head_dim", "kv_lora_rank", "q_lora_rank"), 8),
    **dict.fromkeys(("qk_nope_head_dim", "qk_rope_head_dim"), 4),
    **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_k", "top_k_experts"), 2),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts"), 1),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    "max_position_embeddings": 4096,
    "image_size": SIDE,
    "patch_size": PATCH,
    "sliding_window": 16,
    "num_kv_shared_layers": 0,
    "first_k_dense_replace": 1,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
PLAIN_TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token", "add_bos_token", "add_eos_token")
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
CHANGES: dict[str, Mapping[str, Any]] = {
    "cohere_compass": {"text_config.rope_parameters": {"full_attention": ROPE}},
    "ernie4_5_vl_moe": {
        "text_config.rope_parameters": {**ROPE, "mrope_section": [1, 1, 2]},
        "text_config.moe_intermediate_size": [16, 16],
    },
    "mllama": {
        "text_config.cross_attention_layers": [1],
        "vision_config.intermediate_layers_indices": [0],
        "vision_config.vision_output_dim": 2 * HIDDEN,
    },
    "hy_v4_vl": {"text_config.qk_rope_head_dim": 8},
    "glm5_next": {"text_config.num_key_value_heads": 4, "text_config.qk_rope_head_dim": 0},
    "paddleocr_vl": {"text_config.rope_parameters": {**ROPE, "mrope_section": [2, 1, 1]}},
    "vipllava": {"vision_feature_layers": [-1, -2]},
    "aria": {"vision_config.patch_size": 14, "vision_config.image_size": 980},
    "blip": {"text_config.encoder_hidden_size": HIDDEN},
    "chameleon": {
        "vq_config.resolution": SIDE,
        "vq_config.base_channels": 32,
        "vq_config.channel_multiplier": [1, 1],
        "vq_config.num_res_blocks": 1,
        "vq_config.latent_channels": 8,
        "vq_config.embed_dim": 8,
        "vq_config.num_embeddings": 16,
    },
    "deepseek_ocr2": {
        "text_config.n_group": None,
        "text_config.topk_group": None,
        "text_config.num_experts_per_tok": 2,
        "text_config.mlp_layer_types": ["dense", "sparse"],
        "vision_config.sam_config.patch_size": 16,
        "vision_config.sam_config.image_size": 1024,
        "vision_config.sam_config.downsample_channels": [16, HIDDEN],
    },
    "emu3": {
        "vq_config.codebook_size": 16,
        "vq_config.base_channels": 32,
        "vq_config.channel_multiplier": [1, 1, 1, 1],
        "vq_config.num_res_blocks": 1,
        "vq_config.attn_resolutions": [],
    },
    "got_ocr2": {"vision_config.patch_size": 16, "vision_config.image_size": 1024},
    "granite4_vision": {
        "downsample_rate": "1/2",
        "deepstack_layer_map": [(0, 0)],
        "image_grid_pinpoints": [[SIDE, 2 * SIDE], [2 * SIDE, SIDE]],
        "spatial_target_layers": [0, 0, 1, 1],
        "vision_config.hidden_size": 64,
        "vision_config.num_attention_heads": 1,
        "qformer_config.hidden_size": 64,
        "qformer_config.num_attention_heads": 1,
        "qformer_config.encoder_hidden_size": 64,
    },
    "hunyuan_vl": {
        "vision_config.text_hidden_size": HIDDEN,
        "text_config.head_dim": 8,
        "text_config.rope_parameters": {**ROPE, "mrope_section": [1, 1, 1, 1]},
    },
    "glm_ocr": {"text_config.rope_parameters": {**ROPE, "mrope_section": [2, 1, 1]}},
    "glmga": {"text_config.rope_parameters": {**ROPE, "mrope_section": [2, 1, 1]}},
    # A window of 16 tokens would not reach the clip.
    "idefics2": {"text_config.sliding_window": 4096},
    "deepseek_vl_hybrid": {"high_res_vision_config.global_attn_indexes": [1]},
    "t5gemma2": {"encoder.mm_tokens_per_image": 16},
    "qwen4_exp": {
        "text_config.layer_types": ["linear_attention", "indexed_attention"],
        "text_config.indexer_n_heads": 2,
        "text_config.indexer_kv_heads": 1,
        "text_config.indexer_head_dim": 8,
        "text_config.indexer_budget": 64,
        "text_config.indexer_compress_ratio": 4,
        "text_config.ngram_vocab_size_base": 100,
        "text_config.linear_key_head_dim": 8,
        "text_config.linear_value_head_dim": 8,
        "text_config.linear_num_key_heads": 2,
        "text_config.linear_num_value_heads": 4,
    },
}
# What a configuration is made with, where sizes of layers are derived from one another.
STARTS: dict[str, Mapping[str, Any]] = {
    "gemma4": {
        "text_config": {"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"]},
        "vision_config": {},
    },
}
# What stands for a picture in the prompt, if it is not the processor's token.
PLACEHOLDERS = {"ovis2": "<IMG_ATOM>", "t5gemma2": "<image_token>"}
# Families whose tokenizers name no token of pictures.
NAMED = ("chameleon",)
# Families that see one picture per prompt.
SINGLE = ("blip", "florence2", "git", "got_ocr2", "kosmos-2", "pp_chart2table")
# What a template writes for a picture, if it is not the processor's token.
MARKS: dict[str, str] = {
    "florence2": "",
    "qianfan_ocr": "<image>",
    "pp_chart2table": "<spare>",
    "got_ocr2": "<imgpad>",
    "blip": "",
    "t5gemma2": "<boi_token>",
    **dict.fromkeys(("git", "kosmos-2"), ""),
    "hunyuan_vl": "<image_start_token><image_token><image_end_token>",
}
IN_PATCHES = {"patch_size": PATCH, "vision_feature_select_strategy": "default"}
# The processors of the published models, if transformers does not name one for the family.
PROCESSORS: dict[str, tuple[str, str]] = {
    "cosmos3_omni": ("Qwen3VLProcessor", "Qwen2VLImageProcessorPil"),
    "kosmos-2": ("Kosmos2Processor", "CLIPImageProcessorPil"),
    "glm_ocr": ("Glm46VProcessor", "Glm46VImageProcessorPil"),
    "glmga": ("Glm46VProcessor", "GlmgaImageProcessorPil"),
}
# Sizes of a family's pictures.
PICTURES: dict[str, Mapping[str, Any]] = {
    "florence2": {"image_seq_length": 2},
    "paligemma": {"image_seq_length": 16},
    "deepseek_vl_hybrid": {"high_res_size": {"height": SIDE, "width": SIDE}},
    "deepseek_ocr2": {"size": {"height": 1024, "width": 1024}, "patch_size": 16},
    "got_ocr2": {"size": {"height": 1024, "width": 1024}},
    "emu3": {"min_pixels": 256, "max_pixels": 1024},
    "gemma4": {"pooling_kernel_size": 3},
    "granite4_vision": {"image_grid_pinpoints": [[SIDE, 2 * SIDE], [2 * SIDE, SIDE]]},
}
# Tokens of a family that its processor's file does not name.
TOKENS: dict[str, tuple[str, ...]] = {
    "chameleon": tuple(f"IMGIMG{chr(ord('A') + at // 10)}{chr(ord('A') + at % 10)}Z" for at in range(16)),
    "kosmos-2": tuple(f"<patch_index_{at:04}>" for at in range(4)),
    "emu3": (*(f"<|visual token {at:06}|>" for at in range(16)), "<|extra_200|>"),
}
PROCESSOR_OPTIONS: dict[str, Mapping[str, Any]] = {
    "deepseek_vl": {"num_image_tokens": 16},
    "janus": {"num_image_tokens": 16},
    "granite_docling": {"image_seq_len": 1},
    "vipllava": {**IN_PATCHES, "num_additional_image_tokens": 1},
    "qianfan_ocr": {"image_seq_length": 1},
    "ovis2": {"image_seq_length": 16},
    "chameleon": {"image_seq_length": 256},
    "deepseek_vl_hybrid": {"num_image_tokens": 16},
    "granite4_vision": {**IN_PATCHES, "num_additional_image_tokens": 1, "downsample_rate": "1/2"},
    "kosmos-2": {"num_patch_index_tokens": 4},
    "lighton_ocr": {"patch_size": PATCH, "spatial_merge_size": 2},
    "t5gemma2": {"image_seq_length": 16},
}


def shrunk(config: Any, vocabulary: int, changes: Mapping[str, Any]) -> Any:
    """Make every part of a configuration small, in place. `changes`: {"text_config.head_dim": 8} of this family."""
    for name, value in list(vars(config).items()):
        if isinstance(value, PreTrainedConfig):
            inner = {key.partition(".")[2]: new for key, new in changes.items() if key.startswith(f"{name}.")}
            setattr(config, name, shrunk(value, vocabulary, inner))
        elif isinstance(value, bool) or value is None:
            continue
        elif name in SIZES and isinstance(value, int | float):
            setattr(config, name, SIZES[name])
        elif name.endswith("vocab_size") and isinstance(value, int):
            setattr(config, name, vocabulary)
        elif name.endswith(("layer_types", "_layer_pattern")) and isinstance(value, list):
            setattr(config, name, value[-2:])
        elif name == "rope_parameters" and isinstance(value, dict) and "mrope_section" in value:
            config.rope_parameters = {**value, "mrope_section": [2, 1, 1]}
    for name, value in changes.items():
        if "." not in name:
            setattr(config, name, value)
    return config


def folder_of(kind: str, folder: Path) -> Path:
    """Save a tiny model of the family with its processor, as published folders are laid out."""
    processor_name = PROCESSORS[kind][0] if kind in PROCESSORS else PROCESSOR_MAPPING_NAMES[kind]
    processor_class = getattr(transformers, processor_name)
    source = Path(inspect.getfile(processor_class)).read_text(encoding="utf-8")
    marks = dict.fromkeys(re.findall(r"[\"'](<[^\"'<> ]+>|\[[A-Z_]+\])[\"']", source))
    marks |= dict.fromkeys(re.findall(r"[\"'](<\|[^\"']+\|>)[\"']", source))
    attributes = dict.fromkeys(re.findall(r"tokenizer(?:\.|, \")(\w+_token)\b", source))
    tokenizer = talkative([*marks, *(f"<{name}>" for name in attributes), *TOKENS.get(kind, ()), "<spare>"])
    special = {name: f"<{name}>" for name in attributes if name not in PLAIN_TOKENS and kind not in NAMED}
    special |= {"image_token": "<image>"} if kind == "emu3" else {}
    tokenizer._set_model_specific_special_tokens(special)
    config = shrunk(CONFIG_MAPPING[kind](**STARTS.get(kind, {})), len(tokenizer), CHANGES.get(kind, {}))
    processor = processor_of(kind, processor_class, tokenizer, config)
    _set_ids(kind, config, processor, tokenizer)
    if hasattr(config, "vocabulary_map"):
        config.vocabulary_map = tokenizer.get_vocab()
    torch.manual_seed(7)
    model = auto_class_of(config).from_config(config)
    with_weights(model, WIDE)
    for name, weights in model.named_parameters():
        if ("gate" in name and weights.ndim <= 1) or weights.count_nonzero() == 0:
            torch.nn.init.normal_(weights, std=1.0)
    saved(folder, model, tokenizer)
    if any(part is None for part in vars(processor).values()):
        processor.image_processor.save_pretrained(folder)
        options = {
            name: value for name, value in PROCESSOR_OPTIONS.get(kind, {}).items() if isinstance(value, int | str)
        }
        (folder / "processor_config.json").write_text(
            json.dumps({"processor_class": processor_class.__name__, **options})
        )
    else:
        processor.save_pretrained(folder)
    mark = MARKS.get(kind, getattr(processor, "image_token", "") or "")
    mark = f"<|vision_start|>{mark}<|vision_end|>" if mark and kind not in MARKS else mark
    (folder / "chat_template.jinja").write_text(TEMPLATE.replace("'video'", "'image'").replace("VIDEO", mark))
    return folder


def processor_of(kind: str, processor_class: Any, tokenizer: Any, config: Any) -> Any:
    name = PROCESSORS[kind][1] if kind in PROCESSORS else IMAGE_PROCESSOR_MAPPING_NAMES[kind]["pil"]
    pictures = getattr(transformers, name)()
    for name in ("size", "crop_size", "max_image_size"):
        value = getattr(pictures, name, None)
        if isinstance(value, Mapping | SizeDict):
            setattr(
                pictures, name, {key: _side(key, dict(value)) for key in dict(value) if dict(value)[key] is not None}
            )
    for name in ("patch_size", "pooling_kernel_size"):
        if isinstance(getattr(pictures, name, None), int):
            setattr(pictures, name, PATCH if name == "patch_size" else 1)
    for name, value in PICTURES.get(kind, {}).items():
        setattr(pictures, name, value)
    parts: dict[str, Any] = {"image_processor": pictures, "tokenizer": tokenizer}
    parameters = inspect.signature(processor_class.__init__).parameters
    if "patch_size" in parameters:
        parts["patch_size"] = PATCH
    if "feature_extractor" in parameters:
        parts["feature_extractor"] = None
    if "video_processor" in parameters:
        parts["video_processor"] = None
    parts |= PROCESSOR_OPTIONS.get(kind, {})
    return pictures_only(processor_class)(**parts)


def _side(key: str, size: Mapping[str, int]) -> int:
    if set(size) >= {"shortest_edge", "longest_edge"} and size["longest_edge"] > 5000:
        return {"shortest_edge": 16 * 16, "longest_edge": SIDE * SIDE}[key]
    return SIDE


def _set_ids(kind: str, config: Any, processor: Any, tokenizer: Any) -> None:
    for part in (config, *(value for value in vars(config).values() if isinstance(value, PreTrainedConfig))):
        for name, value in list(vars(part).items()):
            match = re.fullmatch(r"(\w+_token)_(?:id|index)", name)
            if not match or not isinstance(value, int):
                continue
            mark = getattr(processor, match.group(1), None) or getattr(tokenizer, match.group(1), None)
            if match.group(1) == "image_token":
                mark = PLACEHOLDERS.get(kind, mark)
            known = tokenizer.convert_tokens_to_ids(str(mark)) if mark else None
            default = {"bos_token": 0, "pad_token": 1, "eos_token": 2}.get(match.group(1))
            spare = tokenizer.convert_tokens_to_ids("<spare>")
            setattr(part, name, known if known is not None and mark else spare if default is None else default)


KINDS = (
    *("aria", "blip", "chameleon", "cohere_compass", "cosmos3_edge", "cosmos3_omni", "deepseek_ocr2", "deepseek_vl"),
    *("deepseek_vl_hybrid", "emu3", "ernie4_5_vl_moe", "exaone4_5", "florence2", "gemma4", "git", "glm5_next"),
    *("glm_ocr", "glmga", "got_ocr2", "granite4_vision", "granite_docling", "hunyuan_vl", "hy_v4_vl"),
    *("hyperclovax_vision_v2", "idefics2", "janus", "kosmos-2", "lfm3_vl", "lighton_ocr", "mllama", "ovis2"),
    *("paddleocr_vl", "paligemma", "pp_chart2table", "qianfan_ocr", "qwen4_exp", "t5gemma2", "vipllava"),
)
# Why no tiny model of a family passes the checks without torchvision.
UNPASSED: Mapping[str, str] = {
    **dict.fromkeys(("blip-2", "instructblip"), "the model accepts a prompt with too few tokens of the clip"),
    **dict.fromkeys(("fast_vlm", "gemma3n"), "its vision tower needs timm"),
    **dict.fromkeys(("instructblipvideo", "minicpmv4_6", "minicpmv4_7"), "its processor needs its part for videos"),
    **dict.fromkeys(("mistral3", "mistral_large4"), "its processor needs torchvision"),
    **dict.fromkeys(("dots3_note", "kosmos-2.5", "shieldgemma2"), "no tiny model was finished"),
    "diffusion_gemma": "it writes a text in any order",
    "evolla": "it reads proteins",
    "fuyu": "its processor fails on pictures without torchvision",
    "idefics": "its processor puts pictures behind the prompt",
    "mistral4": "it reads no pictures",
    "pix2struct": "its processor draws the prompt into the picture",
    "udop": "its processor needs pytesseract",
    "vision-encoder-decoder": "it takes no prompt",
}
