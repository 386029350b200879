"""Show clips to families of models that no adapter was written for, by the model's own processor and chat template.

A processor with a video processor (which needs torchvision) gets a video with its time stamps, others get each frame as
a picture, as in their makers' examples of several pictures. The model's own forward pass finds the positions.
"""

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from transformers import AutoModelForImageTextToText, AutoModelForMultimodalLM
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
)

from foilworks.core.hub.batching.video_families import FAMILIES, Family
from foilworks.core.hub.batching.video_inputs import Clip, Prepared
from foilworks.core.hub.errors import HubError
from foilworks.core.text.quoting import quoted

UNTESTED = "untested family"
# Of models without a chat template: the clip, the words, and the answer on the next line.
PLAIN_TEMPLATE = (
    "{%% for message in messages %%}{%% for part in message.content %%}{%% if part.type == 'text' %%}{{ part.text }}"
    "{%% else %%}%s{%% endif %%}{%% endfor %%}\n{%% endfor %%}"
)


def auto_class_of(config: Any) -> Any:
    """Return the class of transformers that opens models of a configuration."""
    opens = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    return AutoModelForImageTextToText if opens else AutoModelForMultimodalLM


def family_of(config: Any, name: str) -> Family:
    """Return the family of a configuration; a generic one if no adapter was written for it.

    HubError: transformers opens no model of this type that reads pictures and writes text.
    """
    kind = config.model_type
    if kind in FAMILIES:
        return FAMILIES[kind]
    if kind not in {*MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, *MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES}:
        raise HubError(
            f"{name}: transformers opens no model of type {quoted(kind)} that reads pictures and writes text; choose "
            "another model, serve it and use an endpoint, or write an external program"
        )
    return Family(_frames, {}, marks=(), by_processor=True, is_generic=True)


def shown_by(family: Family, processor: Any, config: Any) -> Family:
    """Return a generic family as the processor shows clips, other families as they are."""
    if not family.is_generic:
        return family
    media = media_type_of(processor)
    fields = (f"{media}_token_id", f"{media}_token_index")
    placeholder = next((field for field in fields if getattr(config, field, None) is not None), "")
    return replace(family, media_type=media, placeholder=placeholder)


def media_type_of(processor: Any) -> str:
    """Return what the processor makes of a clip: a video, or an image per frame."""
    return "video" if getattr(processor, "video_processor", None) is not None else "image"


def plain_template(processor: Any) -> str:
    """Return a chat template for models without one. `%s`: what their processor replaces by a picture."""
    return PLAIN_TEMPLATE % (getattr(processor, f"{media_type_of(processor)}_token", None) or "")


def _frames(clip: Clip) -> Prepared:
    """Show a clip by the model's own processor: as a video, or each frame as a picture."""
    media = 1 if media_type_of(clip.processor) == "video" else len(clip.frames)
    return Prepared({}, "", media, clip.frames, tuple(clip.seconds))


def processed(
    processor: Any, model: Any, rendered: str, prepared: Prepared, device: torch.device
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the processor's tensors for a prompt with a clip: those of the clip, and those with one entry per token,
    `input_ids` among them. HubError: the processor fails."""
    tokenizer = processor.tokenizer
    parameters = inspect.signature(model.forward).parameters
    options: dict[str, Any] = {"return_tensors": "pt"}
    if tokenizer.bos_token and rendered.startswith(tokenizer.bos_token):
        options["add_special_tokens"] = False
    if "mm_token_type_ids" in parameters:
        options["return_mm_token_type_ids"] = True
    try:
        inputs = processor(text=[rendered], **_media(processor, prepared), **options)
        length = inputs["input_ids"].shape[1]
    except (ValueError, TypeError, LookupError, AttributeError, RuntimeError, ImportError) as error:
        raise HubError(
            f"its processor fails ({type(error).__name__}: {error}); serve the model and use an endpoint"
        ) from error
    # What a tokenizer puts behind a text, such as an end token, is not part of a prompt.
    ids, ends, n_behind = inputs["input_ids"][0].tolist()[::-1], _ids_behind(tokenizer)[::-1], 0
    while ids[: n_behind + 1] == ends[: n_behind + 1] and not rendered.endswith(
        tokenizer.convert_ids_to_tokens(ends[n_behind])
    ):
        n_behind += 1
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    tensors, aligned = {}, {}
    for field, value in inputs.items():
        if not isinstance(value, Tensor) or not (field in parameters or takes_any):
            continue
        if not field.startswith("pixel") and value.ndim > 1 and value.shape[:2] == (1, length):
            aligned[field] = value[:, : length - n_behind].to(device)
        else:
            tensors[field] = value.to(device)
    return tensors, aligned


def _ids_behind(tokenizer: Any) -> list[int]:
    """Return the tokens that a tokenizer puts behind every text."""
    word = tokenizer("a", add_special_tokens=False)["input_ids"]
    ids: list[int] = tokenizer("a")["input_ids"]
    begins = next((at for at in range(len(ids)) if ids[at : at + len(word)] == word), 0)
    return ids[begins + len(word) :]


def _media(processor: Any, prepared: Prepared) -> dict[str, Any]:
    assert prepared.frames is not None
    if media_type_of(processor) == "image":
        pictures = [Image.fromarray(frame) for frame in prepared.frames]
        # Several pictures of one prompt are a list in the list of prompts.
        return {"images": pictures if len(pictures) == 1 else [pictures]}
    times = np.asarray(prepared.times)
    spacing = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    fps = 1 / spacing if spacing > 0 else 1.0
    metadata = {
        "fps": fps,
        "total_num_frames": len(times),
        "duration": len(times) / fps,
        "frames_indices": np.round((times - times[0]) * fps).astype(int).tolist(),
    }
    return {"videos": [prepared.frames], "video_metadata": [metadata], "do_sample_frames": False}
