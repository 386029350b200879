"""Generative video models: shared prefixes equal whole forward passes; what each mode means; what is written."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

from foilworks.core.hub.adapters.generative import DESCRIBE, MATCHES, SLOT, GenerativeModel
from foilworks.core.hub.batching.shared_prefix import full_log_probabilities
from foilworks.core.hub.batching.video_families import FAMILIES as KNOWN
from foilworks.core.hub.interfaces import GenerationRequest, VideoMeta
from foilworks.core.hub.opening import open_adapter
from tests.hub.generative_folders import FAMILIES as VIDEOS
from tests.hub.picture_folders import PICTURES

FAMILIES = {**VIDEOS, **PICTURES}
TEXTS = ["a man folds a red shirt", "a ring", "a woman opens the door and two boys are lifting a box", "x", ""]
META = VideoMeta("clip", (0.0, 0.5, 1.0, 1.5))
# Families that write the times of frames into the prompt or the positions.
TIMED = {
    *(
        "qwen2_5_vl",
        "qwen2_5_omni_thinker",
        "qwen3_omni_moe_thinker",
        "qwen3_vl",
        "qwen3_vl_moe",
        "qwen3_5",
        "qwen3_5_moe",
    ),
    *("glm4v", "glm4v_moe", "glm46v", "smolvlm", "video_llama_3"),
}
# Mean log-likelihoods of TEXTS[:2] for these weights and frames, as one forward pass over prefix and caption gave them.
GOLDEN = {
    "llava_next": [-7.0649, -7.9135],
    "llava_next_video": [-6.8969, -6.2034],
    "video_llava": [-6.4228, -4.9891],
    "llava_onevision": [-6.5307, -6.7787],
    "internvl": [-6.4894, -6.2984],
    "qwen2_vl": [-6.0127, -5.2238],
    "qwen2_5_vl": [-5.9703, -7.0168],
    "qwen2_5_omni_thinker": [-6.5866, -6.122],
    "qwen3_omni_moe_thinker": [-6.2441, -7.1949],
    "qwen3_vl": [-6.9639, -5.5579],
    "qwen3_vl_moe": [-6.883, -6.4898],
    "qwen3_5": [-6.6718, -5.9015],
    "qwen3_5_moe": [-6.3575, -7.3748],
    "glm4v": [-5.4019, -5.9821],
    "glm4v_moe": [-6.8029, -6.6613],
    "glm46v": [-6.4825, -6.9032],
    "smolvlm": [-5.9219, -5.8425],
    "llava": [-7.2823, -6.1821],
    "gemma3": [-6.595, -6.8564],
    "idefics3": [-5.9443, -6.0044],
    "aya_vision": [-5.9515, -7.1968],
    "video_llama_3": [-6.9239, -6.4861],
}


def clip(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (4, 20, 30, 3), np.uint8)


# One of each way to place pictures among the words; the others differ in names and sizes.
FOR_EACH_CHANGE = {"gemma3", "glm4v", "internvl", "llava_onevision", "qwen2_5_vl", "qwen3_vl", "smolvlm", "video_llava"}


@pytest.fixture(
    scope="module",
    params=[name if name in FOR_EACH_CHANGE else pytest.param(name, marks=pytest.mark.full) for name in FAMILIES],
)
def family(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return FAMILIES[family](tmp_path_factory.mktemp("generative") / family)


@pytest.fixture(scope="module")
def adapter(folder: Path) -> GenerativeModel:
    return open_adapter(f"vlm:{folder}?frames=4", device="cpu")


def values(adapter: GenerativeModel, texts: list[str], mode: str = "", seed: int = 0) -> list[float]:
    return [score.value for score in adapter.score(clip(seed), texts, mode, META)]


def test_a_shared_prefix_equals_whole_forward_passes(adapter: GenerativeModel) -> None:
    rendered = adapter.rendered(DESCRIBE, adapter.prepare(clip(), META))
    prefix = adapter.prefix(rendered, adapter.prepare(clip(), META))
    texts = [adapter.talk.continued_ids(rendered, text) for text in TEXTS[:4]]
    shared, whole = (f(prefix, texts) for f in (adapter.prefixes.log_probabilities, _whole(adapter)))
    for one, other in zip(shared, whole, strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=0)
    scores = adapter.score(clip(), TEXTS[:4], meta=META)
    for score, row in zip(scores, whole, strict=True):
        assert score.value == pytest.approx(float(row.mean()), abs=1e-3)
        parts = {"sum": float(row.sum()), "mean": score.value, "tokens": len(row)}
        counts = {
            "prompt_tokens": prefix.ids.shape[1],
            "clip_tokens": int((prefix.ids == adapter.prefixes.video_token).sum()),
            "thought_tokens": 0,
            "answer_tokens": len(row),
        }
        assert score.parts == pytest.approx(parts | counts, abs=1e-2)


def test_every_family_is_tested_here_and_known_to_transformers() -> None:
    assert set(FAMILIES) == set(GOLDEN) == set(KNOWN)
    assert set(FAMILIES) <= set(MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)


def test_the_prompt_holds_one_token_per_feature_of_the_clip(adapter: GenerativeModel) -> None:
    """The model itself counts them, and refuses one too few."""
    prefix = adapter.prefix(adapter.rendered(DESCRIBE, adapter.prepare(clip(), META)), adapter.prepare(clip(), META))
    (places,) = (prefix.ids[0] == adapter.prefixes.video_token).nonzero(as_tuple=True)
    assert len(places) >= 4
    fewer = torch.cat([prefix.ids[:, : places[-1]], prefix.ids[:, places[-1] + 1 :]], dim=1)
    with torch.inference_mode():
        assert adapter.model(**adapter.prefixes.forward_inputs(prefix, prefix.ids)).logits.isfinite().all()
        with pytest.raises((ValueError, RuntimeError, IndexError)):
            adapter.model(**adapter.prefixes.forward_inputs(prefix, fewer))


def test_more_frames_take_more_tokens(adapter: GenerativeModel) -> None:
    taken = [len(adapter.talk.tokenizer(adapter.prepare(clip()[:n]).text)["input_ids"]) for n in (2, 4)]
    assert taken[0] < taken[1]
    assert adapter.info.frames == 4


def test_times_of_frames_matter_for_families_that_read_them(adapter: GenerativeModel, family: str) -> None:
    early, late = (
        [score.value for score in adapter.score(clip(), TEXTS[:2], meta=VideoMeta("clip", times))]
        for times in ((0.0, 0.5, 1.0, 1.5), (0.0, 24.0, 48.0, 72.0))
    )
    assert (early != pytest.approx(late, abs=1e-6)) is (family in TIMED)


def test_weights_of_mixed_formats_score_like_one_format(folder: Path, family: str, tmp_path: Path) -> None:
    """Published folders store some tensors in float32 beside bfloat16: the format that is asked for holds for all."""
    copy = shutil.copytree(folder, tmp_path / family)
    weights = load_file(copy / "model.safetensors")
    rounded = {name: value.to(torch.bfloat16) for name, value in weights.items()}
    mixed = {name: value if n % 2 else value.float() for n, (name, value) in enumerate(rounded.items())}
    found = []
    for tensors in (mixed, {name: value.float() for name, value in rounded.items()}):
        save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
        found.append(values(open_adapter(f"vlm:{copy}?frames=4", device="cpu"), TEXTS[:2]))
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    short = open_adapter(f"vlm:{copy}?frames=4&dtype=bfloat16", device="cpu")
    assert values(short, TEXTS[:2]) == pytest.approx(found[0], abs=0.5)
    assert short.info.revision.endswith(" bfloat16")


def _whole(adapter: GenerativeModel):
    return lambda prefix, texts: full_log_probabilities(adapter.prefixes, prefix, texts)


def test_p_yes_equals_whole_forward_passes(adapter: GenerativeModel) -> None:
    """exp(yes) / (exp(yes) + exp(no)), each summed over its spellings; the space that this vocabulary writes before the
    others, a token of its own, is none of them."""
    texts = TEXTS[:3]
    head, _, tail = adapter.rendered(MATCHES.format(SLOT), adapter.prepare(clip(), META)).partition(SLOT)
    prefix = adapter.prefix(head, adapter.prepare(clip(), META))
    spellings = [adapter.talk.tokenizer.convert_tokens_to_ids(begun) for begun in (["Y", "y"], ["N", "no", "Ġno"])]
    for text, value in zip(texts, values(adapter, texts, "p_yes"), strict=True):
        after = adapter.talk.tokenizer(text + tail, add_special_tokens=False)["input_ids"]
        ids = torch.cat([prefix.ids, torch.tensor([after])], 1)
        with torch.inference_mode():
            logits = adapter.model(**adapter.prefixes.forward_inputs(prefix, ids)).logits[0, -1].softmax(0)
        yes, no = (float(logits[ids].sum()) for ids in spellings)
        assert value == pytest.approx(yes / (yes + no), abs=1e-3)


def test_golden_scores(adapter: GenerativeModel, family: str) -> None:
    assert values(adapter, TEXTS[:2]) == pytest.approx(GOLDEN[family], abs=1e-3)


def test_a_batch_scores_like_single_texts(adapter: GenerativeModel) -> None:
    for mode in ("likelihood", "p_yes", "gain"):
        alone = [values(adapter, [text], mode)[0] for text in TEXTS]
        assert values(adapter, TEXTS, mode) == pytest.approx(alone, abs=1e-4)


def test_scores_depend_on_the_clip_and_blind_scores_do_not(adapter: GenerativeModel) -> None:
    assert values(adapter, TEXTS[:3]) != pytest.approx(values(adapter, TEXTS[:3], seed=1), abs=1e-3)
    blind = [score.value for score in adapter.score(None, TEXTS[:3], "blind")]
    assert blind == pytest.approx(values(adapter, TEXTS[:3], "blind"), abs=1e-6)
    seen = values(adapter, TEXTS[:3])
    gains = adapter.score(clip(), TEXTS[:3], "gain", META)
    assert [gain.value for gain in gains] == pytest.approx([a - b for a, b in zip(seen, blind, strict=True)], abs=1e-4)
    assert all(gain.parts["blind_sum"] < 0 for gain in gains)


def test_shares_of_a_choice_sum_to_one_in_every_order(adapter: GenerativeModel) -> None:
    texts = TEXTS[:4]
    shares = values(adapter, texts, "choice")
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    # Turned round, every text stands in the same places once more.
    assert values(adapter, texts[1:] + texts[:1], "choice") == pytest.approx(shares[1:] + shares[:1], abs=1e-4)


def test_requests_give_the_same_texts_in_a_batch_as_alone(adapter: GenerativeModel) -> None:
    requests = [
        GenerationRequest("what is seen?", clip(), 4, META),
        GenerationRequest("who?", None, 3, system="short", examples=(("where?", "there"),)),
        GenerationRequest("what is seen?", clip(1), 4, META),
        GenerationRequest("what is seen?", clip(), 4, META, temperature=1.0, seed=3),
    ]
    together = adapter.generate(requests)
    assert together == [adapter.generate([request])[0] for request in requests]
    assert all(len(text.split()) <= request.max_words for text, request in zip(together, requests, strict=True))
    assert all(together[:2])
