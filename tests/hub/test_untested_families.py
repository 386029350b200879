"""Families without an adapter: their own processors, the checks at load, and equality to a direct forward pass."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoModelForImageTextToText
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

from foilworks.core.hub.adapters import _self_checks
from foilworks.core.hub.adapters.generative import DESCRIBE
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.families import OMNI
from foilworks.core.hub.loading.processor_files import load_processor
from foilworks.core.hub.opening import open_adapter
from tests.hub.generative_folders import FAMILIES
from tests.hub.picture_folders import PICTURES
from tests.hub.untested_folders import KINDS, SINGLE, UNPASSED, folder_of

TEXTS = ["a man folds a red shirt", "a ring"]
QUICK = ("janus",)


def clip(n: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (n, 20, 30, 3), np.uint8)


# transformers makes arrays of pictures in a way that numpy will refuse.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.full) for kind in KINDS]
)
def test_a_family_passes_the_checks_and_equals_a_forward_pass(kind: str, tmp_path: Path) -> None:
    folder = folder_of(kind, tmp_path / kind)
    n = 1 if kind in SINGLE else 3
    adapter = open_adapter(f"vlm:{folder}?frames={n}", device="cpu")
    assert " untested family" in adapter.info.revision
    scores = adapter.score(clip(n), TEXTS)

    # By transformers alone: the template with one picture per frame, then the model's own loss.
    model = AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = load_processor(str(folder))
    pictures = [Image.fromarray(frame) for frame in clip(n)]
    content = [{"type": "image"}] * n + [{"type": "text", "text": DESCRIBE}]
    template = (folder / "chat_template.jinja").read_text()
    rendered = processor.tokenizer.apply_chat_template(
        [{"role": "user", "content": content}], chat_template=template, tokenize=False, add_generation_prompt=True
    )
    assert adapter.talk.prompt(DESCRIBE, video=n) == rendered
    images = pictures if n == 1 else [pictures]
    inputs = processor(text=[rendered], images=images, return_tensors="pt", **_type_ids(model))
    inputs = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    for text, score in zip(TEXTS, scores, strict=True):
        assert score.value == pytest.approx(_mean(model, processor, inputs, rendered, text), abs=1e-5)


def _type_ids(model) -> dict[str, bool]:
    return {"return_mm_token_type_ids": True} if hasattr(getattr(model, "model", None), "get_rope_index") else {}


@torch.inference_mode()
def _mean(model, processor, inputs, rendered: str, text: str) -> float:
    """The mean log-probability of the text's tokens."""
    ids = processor.tokenizer(text, add_special_tokens=False)["input_ids"]
    prompt = inputs["input_ids"]
    # The tokenizer ends a text with its end token.
    prompt = prompt[:, :-1] if prompt[0, -1] == processor.tokenizer.eos_token_id else prompt
    length, answer = prompt.shape[1], torch.tensor([ids])
    if model.config.is_encoder_decoder:
        tensors = {**inputs, "input_ids": prompt, "attention_mask": torch.ones_like(prompt)}
        logits = model(**tensors, labels=answer).logits[0]
    else:
        tensors = {}
        for name, value in inputs.items():
            if name in ("input_ids", "attention_mask"):
                continue
            if value.ndim > 1 and value.shape[1] == inputs["input_ids"].shape[1] and not name.startswith("pixel"):
                tail = value[:, length - 1 : length].expand(-1, len(ids), *value.shape[2:])
                # PaliGemma generates tokens of type 1, others of type 0.
                typed = torch.full_like(tail, int(name == "token_type_ids" and model.config.model_type == "paligemma"))
                value = torch.cat([value[:, :length], tail if name.endswith("mask") else typed], 1)
            tensors[name] = value
        whole = torch.cat([prompt, answer], 1)
        logits = model(**tensors, input_ids=whole, attention_mask=torch.ones_like(whole)).logits[0, -1 - len(ids) : -1]
    return float(torch.log_softmax(logits.float(), 1).gather(1, answer.T).mean())


@pytest.mark.full
@pytest.mark.parametrize("kind", [*FAMILIES, *PICTURES])
def test_a_tested_family_passes_the_same_checks(kind: str, tmp_path: Path) -> None:
    folder = {**FAMILIES, **PICTURES}[kind](tmp_path / kind)
    _self_checks.check_untested(open_adapter(f"vlm:{folder}?frames=2", device="cpu"))


def test_sixty_families_of_transformers_are_scored_and_the_others_have_a_reason() -> None:
    tested = {*FAMILIES, *PICTURES}
    assert len(tested) + len(KINDS) >= 60
    every = {name for name in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES if not name.endswith("_thinker")} | {*OMNI}
    need_torchvision = {
        name for name, backends in IMAGE_PROCESSOR_MAPPING_NAMES.items() if name in every and "pil" not in backends
    }
    groups = (
        {name for name in every if name in tested or f"{name}_thinker" in tested},
        {*KINDS},
        {*UNPASSED},
        need_torchvision - {*KINDS, *UNPASSED},
    )
    assert sorted(every) == sorted(name for group in groups for name in group)


def test_a_model_that_does_not_look_is_refused(tmp_path: Path) -> None:
    folder = folder_of("janus", tmp_path / "janus")
    model = AutoModelForImageTextToText.from_pretrained(folder)
    for name, weights in model.named_parameters():
        if "vision" in name or "aligner" in name:
            weights.data.zero_()
    model.save_pretrained(folder)
    with pytest.raises(
        HubError, match=r"'janus' is untested, and the model fails a check: .* do not depend on the clip"
    ):
        open_adapter(f"vlm:{folder}?frames=2", device="cpu")


def test_a_prompt_with_too_few_tokens_of_the_clip_is_refused_by_the_model(tmp_path: Path) -> None:
    adapter = open_adapter(f"vlm:{folder_of('qwen4_exp', tmp_path / 'm')}?frames=2", device="cpu")
    prefix = _self_checks._prefix(adapter, clip(2))
    places = (prefix.ids[0] == adapter.prefixes.video_token).nonzero().flatten().tolist()
    assert len(places) == adapter.clip_tokens(prefix)
    with pytest.raises((ValueError, RuntimeError, IndexError)):
        adapter.prefixes.log_probabilities(_self_checks._without(prefix, places[-1]), [[5]])
