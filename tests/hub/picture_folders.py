"""Tiny models that see a clip as pictures made by their own processor, laid out as published folders are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import (
    AyaVisionConfig,
    AyaVisionForConditionalGeneration,
    AyaVisionProcessor,
    CLIPVisionConfig,
    Cohere2Config,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3Processor,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    SiglipVisionConfig,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

from tests.hub.folders import saved
from tests.hub.generative_folders import CROPPED, PICTURE, SQUARE, TEMPLATE, TEXT, VISION, WIDE, talkative, with_weights


def llava(folder: Path) -> Path:
    tokenizer = talkative()
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**VISION),
        text_config=LlamaConfig(**TEXT, vocab_size=len(tokenizer)),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    processor = LlavaProcessor(
        CLIPImageProcessorPil(**CROPPED),
        tokenizer,
        patch_size=4,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    return _folder(folder, LlavaForConditionalGeneration(config), processor, "<image>\n")


def gemma3(folder: Path) -> Path:
    """Pictures attend to themselves in both directions; every second layer sees a window of eight tokens."""
    marks = ("<start_of_image>", "<end_of_image>", "<image_soft_token>")
    tokenizer = talkative(marks)
    names = ("boi_token", "eoi_token", "image_token")
    tokenizer._set_model_specific_special_tokens(dict(zip(names, marks, strict=True)))
    text = {
        **TEXT,
        "vocab_size": len(tokenizer),
        "head_dim": 8,
        "sliding_window": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    ids = {f"{name}_index": tokenizer.convert_tokens_to_ids(mark) for name, mark in zip(names, marks, strict=True)}
    vision = SiglipVisionConfig(**VISION, vision_use_head=False)
    config = Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4, **ids)
    processor = Gemma3Processor(Gemma3ImageProcessorPil(**SQUARE), tokenizer, image_seq_length=4)
    return _folder(folder, Gemma3ForConditionalGeneration(config), processor, "<start_of_image>")


def idefics3(folder: Path) -> Path:
    """A picture is cut into tiles, with the whole picture behind them."""
    tiles = tuple(f"<row_{row}_col_{column}>" for row in range(1, 4) for column in range(1, 4))
    tokenizer = talkative((*tiles, "<fake_token_around_image>", "<global-img>", "<end_of_utterance>"))
    config = Idefics3Config(
        vision_config=VISION,
        text_config=LlamaConfig(**TEXT, vocab_size=len(tokenizer)),
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    images = Idefics3ImageProcessorPil(**PICTURE, size={"longest_edge": 32}, max_image_size={"longest_edge": 16})
    return _folder(
        folder,
        Idefics3ForConditionalGeneration(config),
        Idefics3Processor(images, tokenizer, image_seq_len=4),
        "<image>",
    )


def aya_vision(folder: Path) -> Path:
    """A picture is cut into tiles of the size of the whole, with a thumbnail behind them."""
    marks = ("<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>", "TILE", "TILE_GLOBAL")
    tokenizer = talkative(marks)
    config = AyaVisionConfig(
        vision_config=SiglipVisionConfig(**VISION, vision_use_head=False),
        text_config=Cohere2Config(**TEXT, vocab_size=len(tokenizer), layer_types=["full_attention"] * 2),
        image_token_index=tokenizer.convert_tokens_to_ids("<|IMG_PATCH|>"),
        downsample_factor=2,
        vision_feature_layer=-1,
        adapter_layer_norm_eps=1e-6,
    )
    images = GotOcr2ImageProcessorPil(**SQUARE, crop_to_patches=True, max_patches=4)
    processor = AyaVisionProcessor(images, tokenizer, patch_size=4, img_size=16, downsample_factor=2)
    return _folder(folder, AyaVisionForConditionalGeneration(config), processor, "<image>")


PICTURES: dict[str, Callable[[Path], Path]] = {
    "llava": llava,
    "gemma3": gemma3,
    "idefics3": idefics3,
    "aya_vision": aya_vision,
}


def _folder(folder: Path, model: Any, processor: Any, mark: str) -> Path:
    """`mark`: what the chat template writes for a picture."""
    with_weights(model, WIDE)
    saved(folder, model, processor.tokenizer)
    processor.save_pretrained(folder)
    template = TEMPLATE.replace("'video'", "'image'").replace("VIDEO", mark)
    (folder / "chat_template.jinja").write_text(template)
    return folder
