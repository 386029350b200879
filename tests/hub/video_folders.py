"""Tiny image-text and video models with random weights, laid out as published folders are."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AltCLIPConfig,
    AltCLIPModel,
    Blip2Config,
    Blip2ForConditionalGeneration,
    Blip2ForImageTextRetrieval,
    ChineseCLIPConfig,
    ChineseCLIPModel,
    CLIPSegConfig,
    CLIPSegModel,
    MetaClip2Config,
    MetaClip2Model,
    ModernBertConfig,
    PeVideoConfig,
    PeVideoModel,
    Siglip2Config,
    Siglip2Model,
    TimesformerConfig,
    TimesformerModel,
    VideoMAEConfig,
    VideoMAEModel,
    VideoPrismClipModel,
    VideoPrismConfig,
    ViTConfig,
    VivitConfig,
    VivitModel,
    VJEPA2Config,
    VJEPA2Model,
    XCLIPConfig,
    XCLIPModel,
)

from tests.hub.folders import byte_tokenizer, saved, word_tokenizer

HALF = [0.5, 0.5, 0.5]
LAYERS = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 1}
TEXT = {**LAYERS, "max_position_embeddings": 16, "bos_token_id": 2, "eos_token_id": 3}
PICTURE = {"image_size": 16, "patch_size": 8}
PROCESSOR = {
    "size": {"shortest_edge": 16},
    "do_center_crop": True,
    "crop_size": {"height": 16, "width": 16},
    "resample": 2,
    "image_mean": HALF,
    "image_std": HALF,
}


def xclip(folder: Path) -> Path:
    tokenizer = word_tokenizer(longest=16)
    vision = {
        **LAYERS,
        **PICTURE,
        "num_frames": 4,
        "mit_hidden_size": 16,
        "mit_intermediate_size": 32,
        "mit_num_hidden_layers": 1,
        "mit_num_attention_heads": 2,
    }
    config = XCLIPConfig(
        text_config={**TEXT, "vocab_size": len(tokenizer)},
        vision_config=vision,
        projection_dim=16,
        prompt_num_attention_heads=2,
        prompt_layers=1,
        prompt_alpha=0.5,
    )
    return _folder(folder, XCLIPModel, config, tokenizer)


def videoprism(folder: Path) -> Path:
    tokenizer = word_tokenizer(longest=16)
    vision = {
        "image_size": 16,
        "num_frames": 4,
        "tubelet_size": [1, 8, 8],
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "num_spatial_layers": 1,
        "num_temporal_layers": 1,
        "num_auxiliary_layers": 1,
    }
    text = {**TEXT, "vocab_size": len(tokenizer), "pad_token_id": 0}
    config = VideoPrismConfig(text_config=text, vision_config=vision)
    square = {"size": {"height": 16, "width": 16}, "do_normalize": False, "resample": 3}
    return _folder(folder, VideoPrismClipModel, config, tokenizer, square)


def pe_video() -> tuple[PeVideoModel, Any]:
    """The model and its tokenizer. Its frames go through an image classifier of timm, which needs torchvision; here one
    of transformers replaces it, which no folder can specify."""
    tokenizer = word_tokenizer(longest=16)
    text = ModernBertConfig(
        **{**LAYERS, "num_hidden_layers": 2},
        vocab_size=len(tokenizer),
        pad_token_id=0,
        cls_token_id=2,
        sep_token_id=3,
        max_position_embeddings=64,
    )
    video = {**LAYERS, "head_dim": 8}
    config = PeVideoConfig(text_config=text.to_dict(), video_config=video)
    config.video_config.vision_config = ViTConfig(**LAYERS, **PICTURE, num_labels=12)
    return _wide(PeVideoModel(config)).eval(), tokenizer


def pe_video_folder(folder: Path) -> Path:
    """As published: without timm nothing of it can be loaded."""
    PeVideoConfig().save_pretrained(folder)
    (folder / "model.safetensors").touch()
    return folder


def blip2(folder: Path) -> Path:
    tokenizer = word_tokenizer(longest=16)
    config = Blip2Config(
        vision_config={**LAYERS, **PICTURE},
        qformer_config={
            **LAYERS,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 24,
            "encoder_hidden_size": 16,
            "cross_attention_frequency": 1,
            "use_qformer_text_input": True,
        },
        text_config={"model_type": "opt", "vocab_size": 8, "hidden_size": 8, "num_hidden_layers": 1, "ffn_dim": 8},
        num_query_tokens=4,
        image_text_hidden_size=8,
        image_token_index=None,
    )
    return _folder(folder, Blip2ForImageTextRetrieval, config, tokenizer)


def blip2_captions(folder: Path) -> Path:
    """BLIP-2 with OPT, as Salesforce/blip2-opt-6.7b is laid out."""
    tokenizer = byte_tokenizer()
    opt = {"vocab_size": len(tokenizer), "hidden_size": 16, "word_embed_proj_dim": 16, "ffn_dim": 24}
    layers = {"num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 64, "init_std": 0.2}
    config = Blip2Config(
        vision_config={**LAYERS, **PICTURE},
        qformer_config={**LAYERS, "encoder_hidden_size": 16, "cross_attention_frequency": 1},
        text_config={"model_type": "opt", **opt, **layers, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
        num_query_tokens=4,
        image_token_index=None,
    )
    return _folder(folder, Blip2ForConditionalGeneration, config, tokenizer)


def altclip(folder: Path) -> Path:
    tokenizer = word_tokenizer(longest=16)
    text = {**TEXT, "vocab_size": len(tokenizer), "max_position_embeddings": 32, "project_dim": 16, "pad_token_id": 0}
    config = AltCLIPConfig(text_config=text, vision_config={**LAYERS, **PICTURE}, projection_dim=16)
    return _folder(folder, AltCLIPModel, config, tokenizer)


def chinese_clip(folder: Path) -> Path:
    tokenizer = word_tokenizer(longest=16)
    text = {**TEXT, "vocab_size": len(tokenizer), "max_position_embeddings": 32}
    config = ChineseCLIPConfig(text_config=text, vision_config={**LAYERS, **PICTURE}, projection_dim=16)
    return _folder(folder, ChineseCLIPModel, config, tokenizer)


def clipseg(folder: Path) -> Path:
    tokenizer = word_tokenizer(longest=16)
    text = {**TEXT, "vocab_size": len(tokenizer)}
    config = CLIPSegConfig(text_config=text, vision_config={**LAYERS, **PICTURE}, projection_dim=16)
    return _folder(folder, CLIPSegModel, config, tokenizer)


def siglip2(folder: Path) -> Path:
    """With free sizes: rows of patches."""
    tokenizer = word_tokenizer(longest=16)
    config = Siglip2Config(
        text_config={**TEXT, "vocab_size": len(tokenizer), "projection_size": 16, "pad_token_id": 0},
        vision_config={**LAYERS, "patch_size": 4, "num_patches": 16},
    )
    return _folder(folder, Siglip2Model, config, tokenizer, {"resample": 2, "image_mean": HALF, "image_std": HALF})


def metaclip2(folder: Path) -> Path:
    tokenizer = word_tokenizer(longest=16)
    config = MetaClip2Config(
        text_config={**TEXT, "vocab_size": len(tokenizer)}, vision_config={**LAYERS, **PICTURE}, projection_dim=16
    )
    return _folder(folder, MetaClip2Model, config, tokenizer)


def videomae(folder: Path) -> Path:
    config = VideoMAEConfig(**LAYERS, **PICTURE, num_frames=4, tubelet_size=2)
    return _folder(folder, VideoMAEModel, config, byte_tokenizer())


def vjepa2(folder: Path) -> Path:
    config = VJEPA2Config(
        hidden_size=24,
        num_attention_heads=2,
        num_hidden_layers=1,
        mlp_ratio=2,
        crop_size=16,
        patch_size=8,
        frames_per_clip=4,
        pred_hidden_size=24,
        pred_num_attention_heads=2,
        pred_num_hidden_layers=1,
    )
    return _folder(folder, VJEPA2Model, config, byte_tokenizer())


def timesformer(folder: Path) -> Path:
    return _folder(folder, TimesformerModel, TimesformerConfig(**LAYERS, **PICTURE, num_frames=4), byte_tokenizer())


def vivit(folder: Path) -> Path:
    config = VivitConfig(**LAYERS, image_size=16, tubelet_size=[2, 8, 8], num_frames=4)
    return _folder(folder, VivitModel, config, byte_tokenizer(), {**PROCESSOR, "do_normalize": False})


def _folder(folder: Path, kind: Any, config: Any, tokenizer: Any, processor: dict[str, Any] | None = None) -> Path:
    torch.manual_seed(11)
    saved(folder, _wide(kind(config)), tokenizer)
    (folder / "preprocessor_config.json").write_text(json.dumps(PROCESSOR if processor is None else processor))
    return folder


def _wide(model: Any) -> Any:
    """Wide random weights: with the usual .02 every text would look alike."""
    for weights in model.parameters():
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=0.25)
    return model
